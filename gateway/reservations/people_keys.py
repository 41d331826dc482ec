"""The keys of people who are named: billing finds them, before anything is changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from wavepool.billing.v1.identity_pb2 import ResolveKeysRequest
from wavepool.executor.v1.session_pb2 import SessionKey
from wavepool.scheduler.v1.reservations_pb2 import ReservationEditor

from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.reservations import schemas
from gateway.reservations.views import fingerprint_of
from gateway.upstreams import CALL_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

GIVEN = "given"
MOST_LOOKUPS = 16
"""Of one request; each may ask GitHub."""
_KEY_ITSELF = "If you have a key of theirs, give it: NAME=FILE, or `public_key` beside `user` over HTTP."
_AWAY = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}
_NOBODY = {grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.NOT_FOUND}


@dataclass(frozen=True)
class PeopleKeys:
    """Keys with their users, each with the place that has it, and sentences about what is not as it should be."""

    keys: tuple[SessionKey, ...] = ()
    origins: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    users: tuple[ReservationEditor, ...] = ()
    """Those of the people who are users here."""

    def added(self) -> list[schemas.AddedKey]:
        """The keys as they are shown."""
        return [
            schemas.AddedKey(
                user=key.user, type=key.public_key.split(" ")[0], fingerprint=fingerprint_of(key), origin=origin
            )
            for key, origin in zip(self.keys, self.origins, strict=True)
        ]


class KeyLookup:
    """Finds keys for the holder of one token."""

    def __init__(self, identity: IdentityServiceAsyncStub, token_id: str) -> None:
        self._identity = identity
        self._token_id = token_id

    async def own(self, given: Sequence[SessionKey]) -> PeopleKeys:
        """The given keys, and all that billing finds of the caller; without given ones it must find one.

        Raises ProblemError.
        """
        try:
            return joined([given_keys(given), await self._of_person("", "keys")])
        except _NoKeysError as error:
            if not given:
                raise ProblemError(error.problem) from error
            notes = (error.problem.detail,) if error.is_away else ()
            return joined([given_keys(given), PeopleKeys(notes=notes)])

    async def of(self, people: Sequence[schemas.AddedUser], user_name: str, field: str) -> PeopleKeys:
        """The keys that are given, and those of people without any; raises ProblemError if a person has none.

        `field` is the request's, for the error.
        """
        named = list(dict.fromkeys(one.user for one in people if one.public_key is None))
        if len(named) > MOST_LOOKUPS:
            fault = f"names {len(named)} people without a key; at most {MOST_LOOKUPS} can be looked up at once"
            raise _field_problem(field, fault)
        given = [SessionKey(user=one.user or user_name, public_key=one.public_key) for one in people if one.public_key]
        try:
            found = await asyncio.gather(*(self._of_person(person, field) for person in named))
        except _NoKeysError as error:
            raise ProblemError(error.problem) from error
        return joined([given_keys(given), *found])

    async def editors(self, people: Sequence[str]) -> PeopleKeys:
        """The users who are named, with their keys; raises ProblemError if one is no user here, or has no key."""
        found = await self.of([schemas.AddedUser(user=one) for one in people], "", "add_editors")
        names = {key.user for key in found.keys} - {one.user for one in found.users}
        if names:
            fault = f"{min(names)} is no user of Wavepool; let them in with `add` instead"
            raise _field_problem("add_editors", fault)
        return found

    async def _of_person(self, person: str, field: str) -> PeopleKeys:
        request = ResolveKeysRequest(caller_token_id=self._token_id, person=person)
        try:
            answer = await self._identity.ResolveKeys(request, timeout=CALL_TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError as error:
            problem = problem_of_rpc(error, {"person": field})
            if error.code() in _NOBODY:
                fault = f"{problem.detail} {_KEY_ITSELF}" if person else problem.detail
                raise _NoKeysError(_field_problem(field, fault).problem) from error
            if error.code() in _AWAY:
                raise _NoKeysError(problem, is_away=True) from error
            raise ProblemError(problem) from error
        keys = tuple(SessionKey(user=answer.user, public_key=key.public_key) for key in answer.keys)
        users = (ReservationEditor(user=answer.user, user_id=answer.user_id),) if answer.user_id else ()
        return PeopleKeys(keys, tuple(key.origin for key in answer.keys), tuple(answer.notes), users)


def joined(parts: Sequence[PeopleKeys]) -> PeopleKeys:
    """All keys, each once for each user, whatever its comment."""
    keys: dict[tuple[str, str], tuple[SessionKey, str]] = {}
    notes: dict[str, None] = {}
    for part in parts:
        for key, origin in zip(part.keys, part.origins, strict=True):
            keys.setdefault((key.user, " ".join(key.public_key.split()[:2])), (key, origin))
        notes |= dict.fromkeys(part.notes)
    users = {one.user_id: one for part in parts for one in part.users}
    return PeopleKeys(
        tuple(key for key, _ in keys.values()),
        tuple(origin for _, origin in keys.values()),
        tuple(notes),
        tuple(users.values()),
    )


class _NoKeysError(Exception):
    """A person has no key, or their keys cannot be looked up."""

    def __init__(self, problem: Problem, *, is_away: bool = False) -> None:
        super().__init__(problem.detail)
        self.problem = problem
        self.is_away = is_away


def given_keys(keys: Sequence[SessionKey]) -> PeopleKeys:
    """Keys that came with the request."""
    return PeopleKeys(tuple(keys), (GIVEN,) * len(keys))


def _field_problem(field: str, fault: str) -> ProblemError:
    return ProblemError(Problem(422, f"{field}: {fault}", (FieldError(field, fault),)))
