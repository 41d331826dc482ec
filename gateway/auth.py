"""Authenticates requests: looks bearer tokens up in billing and remembers the answers for some seconds."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import (
    datetime,
    timedelta,
)
from typing import TYPE_CHECKING

import grpc
from wavepool.billing.v1.identity_pb2 import (
    AuthenticateTokenRequest,
    AuthenticateTokenResponse,
    GetCallerRequest,
    UseTicketRequest,
)

from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.ticket import Ticket
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.enum_names import role_word
from gateway.words.proto_time import instant_of

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

MAX_REMEMBERED = 10_000
MAX_TOKEN_LENGTH = 512
ROLE_TITLES = {"admin": "administrator"}
"""Roles with another name for people."""


@dataclass(frozen=True)
class Caller:
    """The user, the account and the token of a request, and what the token may do."""

    user_id: str
    user_name: str
    role: str
    account_id: str
    """The account that the token charges."""
    account_name: str
    token_id: str
    admin: bool
    scopes: tuple[str, ...]
    """All that the token may do."""
    expire_time: datetime | None
    visible_account_ids: frozenset[str]
    """The accounts whose jobs and credit the token may see."""
    managed_account_ids: frozenset[str] = frozenset()
    """Those of them whose team the token may manage."""

    @property
    def oversees(self) -> bool:
        """True for operators and administrators, who see what everybody has."""
        return bool({"operate", "admin"} & set(self.scopes))

    @property
    def overseen_account_ids(self) -> list[str]:
        """The accounts in which a call to another service looks; none for those who oversee, which means in all."""
        return [] if self.oversees else sorted(self.visible_account_ids)

    def sees(self, account_id: str) -> bool:
        """True if the account is one of the visible ones; what others have is seen as far as they share it."""
        return account_id in self.visible_account_ids

    def seen_account(self, account_id: str) -> str:
        """The account to show: the caller's own if empty; raises ProblemError (404) for one that they may not see."""
        if account_id in {"", self.account_id, self.account_name}:
            return self.account_id
        if account_id not in self.visible_account_ids and not self.oversees:
            detail = f"There is no account with the id {account_id!r} among yours; `wavepool accounts` lists them."
            raise ProblemError(Problem(404, detail))
        return account_id

    def require(self, *scopes: str) -> None:
        """Raises ProblemError (403), which names the scopes, if the token has none of them."""
        if not set(scopes) & set(self.scopes):
            needed, has = " or ".join(f"`{scope}`" for scope in scopes), ", ".join(self.scopes)
            raise ProblemError(Problem(403, f"This needs the scope {needed}; your token has: {has}."))

    def require_role(self, *roles: str) -> None:
        """Raises ProblemError (403), which names the first role, if the user has none of them."""
        if self.role not in roles:
            title = ROLE_TITLES.get(roles[0], roles[0])
            raise ProblemError(Problem(403, f"This needs the token of an {title}; your role is {self.role}."))


class Authenticator:
    """Turns tokens and tickets into callers. Remembers tokens by hash and by id, also rejected ones, and no tickets."""

    def __init__(
        self,
        identity: IdentityServiceAsyncStub,
        remember_for: timedelta,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._identity = identity
        self._remember_seconds = remember_for.total_seconds()
        self._monotonic_seconds = monotonic_seconds
        self._remembered: OrderedDict[bytes, tuple[float, Caller | None]] = OrderedDict()

    async def caller(self, token: str) -> Caller:
        """The token's user; raises ProblemError (401) if the token is missing or does not work."""
        if not token or len(token) > MAX_TOKEN_LENGTH:
            raise _unauthorized("Send your API token as `Authorization: Bearer <token>`.")
        key = hashlib.sha256(token.encode()).digest()
        caller = await self._looked_up(key, lambda: self._with_token(token))
        if caller is None:
            raise _unauthorized("The API token is unknown, revoked or expired, or its user is disabled; use another.")
        return caller

    async def caller_with(self, ticket: Ticket) -> Caller:
        """The user of the token that asked for a ticket, which is used up; raises ProblemError (401)."""
        if len(ticket.secret) > MAX_TOKEN_LENGTH:
            raise _unauthorized("The ticket is none; ask for one with `POST /api/v1/tickets`.", "ticket")
        request = UseTicketRequest(ticket=ticket.secret, address=ticket.address)
        try:
            answer = await self._identity.UseTicket(request, timeout=CALL_TIMEOUT_SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                raise _unauthorized(error.details() or "The ticket does not work.", "ticket") from error
            raise
        return _caller_of(answer.caller)

    async def still_works(self, token_id: str) -> bool:
        """False once a token that worked no longer does; True as long as this cannot be found out."""
        try:
            return await self._looked_up(token_id.encode(), lambda: self._with_id(token_id)) is not None
        except grpc.aio.AioRpcError:
            return True

    async def fresh_caller(self, token_id: str) -> Caller | None:
        """The token's user as billing knows it now, whatever is remembered; None if the token does not work any more.

        Raises AioRpcError.
        """
        return await self._asked_and_remembered(token_id.encode(), lambda: self._with_id(token_id))

    async def _looked_up(self, key: bytes, ask: Callable[[], Awaitable[Caller]]) -> Caller | None:
        expiry, caller = self._remembered.get(key, (0.0, None))
        if expiry > self._monotonic_seconds():
            return caller
        return await self._asked_and_remembered(key, ask)

    async def _asked_and_remembered(self, key: bytes, ask: Callable[[], Awaitable[Caller]]) -> Caller | None:
        asked = self._monotonic_seconds()
        try:
            caller = await ask()
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            caller = None
        for known in {key, caller.token_id.encode()} if caller else {key}:
            self._remembered[known] = (asked + self._remember_seconds, caller)
            self._remembered.move_to_end(known)
        while len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)
        return caller

    async def _with_token(self, token: str) -> Caller:
        request = AuthenticateTokenRequest(token=token)
        return _caller_of(await self._identity.AuthenticateToken(request, timeout=CALL_TIMEOUT_SECONDS))

    async def _with_id(self, token_id: str) -> Caller:
        request = GetCallerRequest(token_id=token_id)
        return _caller_of((await self._identity.GetCaller(request, timeout=CALL_TIMEOUT_SECONDS)).caller)


def _caller_of(answer: AuthenticateTokenResponse) -> Caller:
    return Caller(
        user_id=answer.user_id,
        user_name=answer.user_name,
        role=role_word(answer.role),
        account_id=answer.account_id,
        account_name=answer.account_name,
        token_id=answer.token_id,
        admin=answer.admin,
        scopes=tuple(answer.scopes),
        expire_time=instant_of(answer.expire_time),
        visible_account_ids=frozenset({answer.account_id, *answer.visible_account_ids}),
        managed_account_ids=frozenset(answer.managed_account_ids),
    )


def _unauthorized(detail: str, field: str = "Authorization") -> ProblemError:
    return ProblemError(Problem(401, detail, (FieldError(field, detail),)))
