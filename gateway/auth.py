"""Authenticates requests: looks bearer tokens up in billing and remembers the answers for some seconds."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from wavepool.billing.v1.billing_pb2 import AuthenticateTokenRequest

from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.upstreams import CALL_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub

MAX_REMEMBERED = 10_000
MAX_TOKEN_LENGTH = 512


@dataclass(frozen=True)
class Account:
    """The account and the token of a request."""

    account_id: str
    account_name: str
    token_id: str
    admin: bool


class Authenticator:
    """Turns tokens into accounts. Remembers hashes of tokens only, also of rejected ones."""

    def __init__(
        self,
        billing: BillingServiceAsyncStub,
        remember_for: timedelta,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._billing = billing
        self._remember_seconds = remember_for.total_seconds()
        self._monotonic_seconds = monotonic_seconds
        self._remembered: OrderedDict[bytes, tuple[float, Account | None]] = OrderedDict()

    async def account(self, token: str) -> Account:
        """The token's account; raises ProblemError (401) if the token is missing, unknown or revoked."""
        if not token or len(token) > MAX_TOKEN_LENGTH:
            raise _unauthorized("Send your API token as `Authorization: Bearer <token>`.")
        account = await self._looked_up(token)
        if account is None:
            raise _unauthorized("The API token is unknown or revoked; use another.")
        return account

    async def _looked_up(self, token: str) -> Account | None:
        key = hashlib.sha256(token.encode()).digest()
        expiry, account = self._remembered.get(key, (0.0, None))
        if expiry > self._monotonic_seconds():
            return account
        account = await self._asked(token)
        self._remembered[key] = (self._monotonic_seconds() + self._remember_seconds, account)
        self._remembered.move_to_end(key)
        if len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)
        return account

    async def _asked(self, token: str) -> Account | None:
        try:
            answer = await self._billing.AuthenticateToken(
                AuthenticateTokenRequest(token=token), timeout=CALL_TIMEOUT_SECONDS
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise
        return Account(answer.account_id, answer.account_name, answer.token_id, answer.admin)


def _unauthorized(detail: str) -> ProblemError:
    return ProblemError(Problem(401, detail, (FieldError("Authorization", detail),)))
