from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import grpc
import pytest
from wavepool.billing.v1.identity_pb2 import ROLE_USER, AuthenticateTokenResponse

from gateway.auth import Authenticator
from gateway.http.errors import ProblemError
from servicekit.clock import ManualClock

ANSWER = AuthenticateTokenResponse(
    user_id="user_1",
    role=ROLE_USER,
    account_id="acc_1",
    token_id="tok_1",  # noqa: S106 - an id
    scopes=["read", "submit"],
)


class Billing:
    """Knows one token until it is revoked."""

    def __init__(self) -> None:
        self.known = {"good"}
        self.failure = grpc.StatusCode.NOT_FOUND
        self.asked: list[str] = []

    async def AuthenticateToken(self, request: Any, timeout: float) -> AuthenticateTokenResponse:  # noqa: N802
        self.asked.append(request.token)
        if request.token not in self.known:
            raise grpc.aio.AioRpcError(self.failure, grpc.aio.Metadata(), grpc.aio.Metadata())
        return ANSWER


@pytest.fixture
def billing() -> Billing:
    return Billing()


@pytest.fixture
def authenticator(billing: Billing, free_clock: ManualClock) -> Authenticator:
    def seconds() -> float:
        return free_clock.now().timestamp()

    return Authenticator(cast("Any", billing), timedelta(seconds=5), seconds)


async def status_of(authenticator: Authenticator, token: str) -> int:
    with pytest.raises(ProblemError) as raised:
        await authenticator.caller(token)
    return raised.value.problem.status


async def test_token_is_looked_up_once_in_a_while(
    authenticator: Authenticator, billing: Billing, free_clock: ManualClock
) -> None:
    callers = [await authenticator.caller("good") for _ in range(3)]
    assert {caller.account_id for caller in callers} == {"acc_1"}
    assert billing.asked == ["good"]
    free_clock.advance(timedelta(seconds=5))
    await authenticator.caller("good")
    assert billing.asked == ["good", "good"]


async def test_revoked_token_stops_working_within_seconds(
    authenticator: Authenticator, billing: Billing, free_clock: ManualClock
) -> None:
    await authenticator.caller("good")
    billing.known.clear()
    free_clock.advance(timedelta(seconds=5))
    assert await status_of(authenticator, "good") == 401


async def test_rejected_token_is_not_asked_about_again_at_once(authenticator: Authenticator, billing: Billing) -> None:
    assert await status_of(authenticator, "bad") == 401
    assert await status_of(authenticator, "bad") == 401
    assert billing.asked == ["bad"]


async def test_failure_of_billing_is_not_remembered_as_a_rejection(
    authenticator: Authenticator, billing: Billing
) -> None:
    billing.failure = grpc.StatusCode.UNAVAILABLE
    with pytest.raises(grpc.aio.AioRpcError):
        await authenticator.caller("late")
    billing.known.add("late")
    assert (await authenticator.caller("late")).account_id == "acc_1"


@pytest.mark.parametrize("token", ["", "x" * 513])
async def test_token_that_cannot_be_one_is_refused_without_asking(
    authenticator: Authenticator, billing: Billing, token: str
) -> None:
    assert await status_of(authenticator, token) == 401
    assert billing.asked == []


async def test_tokens_are_kept_as_hashes_only(authenticator: Authenticator) -> None:
    await authenticator.caller("good")
    assert "good" not in repr(vars(authenticator))
