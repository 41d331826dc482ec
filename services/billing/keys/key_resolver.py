"""Finds a person's keys in all places that the operator allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.billing.errors import (
    GithubOffError,
    InvalidFieldError,
    KeySourceAwayError,
    NoKeysError,
    UserDisabledError,
    UserNotFoundError,
)
from services.billing.identity.ssh_key import fingerprint_of
from services.billing.identity.user import User, check_github_name
from services.billing.keys.key_source import Found, KeySource
from services.billing.store.key_store import KeyStore
from services.billing.store.user_store import UserStore

GITHUB = "github:"


@dataclass(frozen=True)
class ResolvedKey:
    """A key (type and bytes), and the place that has it."""

    line: str
    origin: str


@dataclass(frozen=True)
class Resolved:
    """A person's keys, each once; `name` is that of sessions, and `user_id` empty for somebody who is no user here."""

    name: str
    user_id: str
    keys: tuple[ResolvedKey, ...]
    notes: tuple[str, ...]


class NamedKeySource(Protocol):
    """A place that has keys of people who are no users here."""

    async def keys_of_name(self, name: str) -> Found:
        """The keys of a name there; raises what KeySource raises."""
        ...


@dataclass(frozen=True)
class KeyResolver:
    """Asks all sources; `github` is None if it is off."""

    users: UserStore
    keys: KeyStore
    sources: Sequence[KeySource]
    github: NamedKeySource | None

    async def resolve(self, caller: User, person: str) -> Resolved:
        """The keys of a user, of `github:` and a name there, or of the caller if `person` is empty.

        Raises what KeySource raises, and NoKeysError, GithubOffError and InvalidFieldError.
        """
        if person.startswith(GITHUB):
            return await self._of_github(person.removeprefix(GITHUB))
        if person in {"", caller.user_id, caller.name}:
            return await self._of_user(caller)
        try:
            return await self._of_user(_enabled(await self.users.get(person)))
        except (UserNotFoundError, UserDisabledError, NoKeysError) as error:
            # One answer for all, or anybody could find out who the users are.
            raise NoKeysError(
                f"no user {person[:80]!r} with an SSH key is here. If the name is right, they must sign in and add a "
                "key with `wavepool keys add FILE`"
            ) from error

    async def _of_user(self, user: User) -> Resolved:
        found: list[Found] = []
        failures: list[Exception] = []
        for source in self.sources:
            try:
                one = await source.keys_of(user)
            except (NoKeysError, KeySourceAwayError) as error:
                failures.append(error)
                continue
            found += [one] if one else []
        if not found and failures:
            raise failures[0]
        if not found:
            claim = (
                ", or `wavepool keys claim NAME` if there is one on GitHub"
                if self.github and not user.github_name
                else ""
            )
            raise NoKeysError(f"you have no SSH key here: `wavepool keys add FILE` adds one{claim}")
        return await self._joined(user.name, user.user_id, found, [str(failure) for failure in failures])

    async def _of_github(self, text: str) -> Resolved:
        name = check_github_name(text, "person")
        if not name:
            raise InvalidFieldError("person", "has no name after github:; give one, such as github:alice")
        if self.github is None:
            raise GithubOffError
        found = await self.github.keys_of_name(name)
        user = await self.users.find_by_github_name(name)
        if user is not None:
            _enabled(user)
        # A user here may have the same name, and be somebody else.
        session_name = f"{name}@github" if user is None else user.name
        return await self._joined(session_name, user.user_id if user else "", [found], [])

    async def _joined(self, name: str, user_id: str, found: Sequence[Found], notes: Sequence[str]) -> Resolved:
        origins: dict[str, str] = {}
        for one in found:
            for line in one.lines:
                origins.setdefault(line, one.origin)
        owners = await self.keys.owners([fingerprint_of(line) for line in origins])
        others = {line for line in origins if owners.get(fingerprint_of(line), user_id) != user_id}
        left_out = [
            f"{origins[line]}: the key {fingerprint_of(line)} is not used: another user has it here" for line in others
        ]
        said = [*notes, *(note for one in found for note in one.notes), *sorted(left_out)]
        keys = tuple(ResolvedKey(line, origin) for line, origin in origins.items() if line not in others)
        if not keys:
            raise NoKeysError(f"{said[-1]}, and there is no other key. `wavepool keys add FILE` adds one")
        return Resolved(name, user_id, keys, tuple(said))


def _enabled(user: User) -> User:
    if user.disable_time is not None:
        raise UserDisabledError(user.name)
    return user
