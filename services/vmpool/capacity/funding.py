"""Asks billing how much may still be spent on machines."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

import grpc
from wavepool.billing.v1 import billing_pb2 as pb
from wavepool.billing.v1 import billing_pb2_grpc

from servicekit.rpc.errors import rpc_failure
from services.vmpool.policy.machine_budget import Funds, funds_left

if TYPE_CHECKING:
    from datetime import datetime

    from servicekit.clock import Clock
    from services.vmpool.store.usage_store import UsageStore

CALL_SECONDS = 1.5
LIFETIME = timedelta(seconds=3)
"""Time for which an answer is reused. Billing hears of a machine that is started in this time only after it."""


class Funding(Protocol):
    """Says how much may still be spent on machines."""

    async def funds(self) -> Funds:
        """The money left to start machines with; `unknown` says why the amount is not known."""
        ...


class BillingFunding:
    """Computes the money left: billing's machine budget, less its spending and the holds of unsettled machines."""

    def __init__(self, usage: UsageStore, channel: grpc.aio.Channel, clock: Clock) -> None:
        self._usage = usage
        self._billing = billing_pb2_grpc.BillingServiceStub(channel)
        self._clock = clock
        self._answers: dict[frozenset[str], tuple[datetime, pb.GetMachineBudgetResponse]] = {}

    async def funds(self) -> Funds:
        """The money left.

        Billing is asked at most once per LIFETIME for the same set of machines; their holds are computed each time.
        """
        unsettled = await self._usage.unsettled()
        now = self._clock.now()
        try:
            answer = await self._answer(frozenset(machine.machine_id for machine in unsettled), now)
        except grpc.aio.AioRpcError as error:
            return Funds(unknown=f"billing does not say how much may be spent ({rpc_failure(error).message})")
        if not answer.HasField("budget_micros"):
            return Funds()
        reserved_until = await self._usage.reserved_until()
        return funds_left(answer.budget_micros, answer.spent_micros, unsettled, now, reserved_until)

    async def _answer(self, besides: frozenset[str], now: datetime) -> pb.GetMachineBudgetResponse:
        time, answer = self._answers.get(besides, (None, None))
        if time is None or answer is None or abs(now - time) >= LIFETIME:
            request = pb.GetMachineBudgetRequest(besides_machine_ids=sorted(besides))
            answer = await self._billing.GetMachineBudget(request, timeout=CALL_SECONDS)
            self._answers = {besides: (now, answer)}
        return answer
