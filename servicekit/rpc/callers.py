"""Identifies callers of a service of the installation: the other services, and people by their API tokens."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Protocol

import grpc

from servicekit.actor import Actor
from servicekit.callers_file import OtherService
from servicekit.rpc.access import SERVICES, Caller
from servicekit.rpc.credentials import NAME_KEY, ServiceCredentials
from servicekit.rpc.errors import RefusedCallError
from servicekit.rpc.tls import name_in_certificate
from vocabulary.bearer import bearer_token, same_token

REMEMBERED_SECONDS = 5.0
"""Longest time that a revoked API token may go on working."""
MAX_REMEMBERED = 10_000
API_TOKEN_PREFIX = "wpt_"  # noqa: S105 - how every API token begins
NO_CREDENTIALS = (
    "send `authorization: Bearer <token>`. A service sends the first line of the `service-token` file "
    "(WAVEPOOL_SERVICE_TOKEN_FILE), which all services of an installation must share; a person sends an API token"
)
"""The answer to a call without credentials, or with unknown ones."""


class Owner(Protocol):
    """The part of billing's answer to AuthenticateToken that is read here."""

    @property
    def user_id(self) -> str: ...  # noqa: D102 - as its name says
    @property
    def user_name(self) -> str: ...  # noqa: D102 - as its name says
    @property
    def token_id(self) -> str: ...  # noqa: D102 - as its name says
    @property
    def scopes(self) -> Collection[str]:
        """All that the token may do; `operate` and `admin` among them for those who may."""
        ...


def caller_of(owner: Owner) -> Caller:
    """Who an API token's owner is, as far as the token's scopes let them."""
    actor = Actor(owner.user_id, owner.user_name, owner.token_id)
    if "admin" in owner.scopes:
        return Caller(frozenset({"operator", "admin"}), "an administrator", actor=actor)
    if "operate" in owner.scopes:
        return Caller(frozenset({"operator"}), "an operator", actor=actor)
    return Caller(frozenset(), "a user", actor=actor)


async def if_found(answer: Awaitable[Owner]) -> Owner | None:
    """The answer of AuthenticateToken; None if it is NOT_FOUND, as for an unknown token."""
    try:
        return await answer
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.NOT_FOUND:
            return None
        raise RefusedCallError(
            grpc.StatusCode.UNAVAILABLE, f"billing cannot be asked whose API token it is ({error.details()}); try again"
        ) from error


class Callers:
    """Identifies callers of the service that has these credentials.

    Another service sends the services' token and its name; with TLS the name is that of its certificate, and the token
    alone proves nothing. `others` gives services of the operator by name: each has a token or, with TLS, a certificate
    of that name, and both if a token is listed. `authenticate` finds the owner of an API token, or None if it is
    unknown or revoked; what it answers is remembered for REMEMBERED_SECONDS by the hash of the token.
    """

    def __init__(
        self,
        credentials: ServiceCredentials,
        authenticate: Callable[[str], Awaitable[Owner | None]],
        monotonic_seconds: Callable[[], float] = time.monotonic,
        others: Callable[[], Mapping[str, OtherService]] = dict,
    ) -> None:
        self._credentials = credentials
        self._authenticate = authenticate
        self._monotonic_seconds = monotonic_seconds
        self._others = others
        self._remembered: OrderedDict[bytes, tuple[float, Caller | None]] = OrderedDict()

    async def identify(self, context: Any) -> Caller:  # noqa: ANN401 - grpc's own
        """Who calls; raises RefusedCallError without credentials, or with ones that are unknown."""
        metadata = context.invocation_metadata() or ()
        if self._credentials.token.is_in(metadata):
            return self._service(dict(metadata), context)
        token = bearer_token(metadata)
        if other := self._other_service(token, context):
            return other
        caller = await self._owner(token) if token.startswith(API_TOKEN_PREFIX) else None
        if caller is None:
            raise RefusedCallError(grpc.StatusCode.UNAUTHENTICATED, NO_CREDENTIALS)
        return caller

    def _service(self, metadata: dict[str, Any], context: Any) -> Caller:  # noqa: ANN401 - grpc's own
        name = name_in_certificate(context) if self._credentials.tls else str(metadata.get(NAME_KEY, ""))
        if name in SERVICES:
            return Caller(frozenset({name}), f"the service {name}")
        where = "your certificate" if self._credentials.tls else f"`{NAME_KEY}`"
        return Caller(frozenset(), f"a service without a known name: {where} says {name[:40]!r}")

    def _other_service(self, token: str, context: Any) -> Caller | None:  # noqa: ANN401 - grpc's own
        with_tls = self._credentials.tls is not None
        shown = name_in_certificate(context) if with_tls else ""
        for name, service in self._others().items():
            has_proof = same_token(token, service.token) if service.token else with_tls
            if has_proof and (name == shown or not with_tls):
                title = f"the other service {name}"
                return Caller(frozenset({"other_service"}), title, name, service.accounts)
        return None

    async def _owner(self, token: str) -> Caller | None:
        key = hashlib.sha256(token.encode()).digest()
        expiry, caller = self._remembered.get(key, (0.0, None))
        if expiry > self._monotonic_seconds():
            return caller
        asked = self._monotonic_seconds()
        owner = await self._authenticate(token)
        caller = caller_of(owner) if owner else None
        self._remembered[key] = (asked + REMEMBERED_SECONDS, caller)
        self._remembered.move_to_end(key)
        if len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)
        return caller
