"""A billing service that keeps holds in a dict, and refuses or goes silent when a test says so."""

# ruff: noqa: N802 - methods are named by the protos, and grpc's contexts have no useful type
from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from wavepool.billing.v1 import (
    alerts_pb2,
    alerts_pb2_grpc,
    billing_pb2,
    billing_pb2_grpc,
    identity_pb2,
    identity_pb2_grpc,
    prices_pb2,
    prices_pb2_grpc,
)

from vocabulary.gpu_types import GPU_TYPES
from vocabulary.money import price_of

PRICE_MICROS_PER_HOUR = 1_990_000


class ScriptedBilling(billing_pb2_grpc.BillingServiceServicer, prices_pb2_grpc.PriceServiceServicer):
    """`refusals` maps method names to the status with which the next calls fail, `meanwhile` to what happens elsewhere
    before the answer.
    """

    def __init__(self) -> None:
        self.refusals: dict[str, grpc.StatusCode] = {}
        self.prices: dict[str, int] = {}
        self.gpu_types: tuple[str, ...] = GPU_TYPES
        self.administrators: set[str] = set()
        self.lost_answers: set[str] = set()
        self.meanwhile: dict[str, Callable[[], Awaitable[object]]] = {}
        self.holds: dict[str, billing_pb2.ReserveCreditRequest] = {}
        self.settled: dict[str, billing_pb2.SettleChargeRequest] = {}
        self.settle_calls = 0
        self.parts: dict[str, billing_pb2.SettleChargeRequest] = {}
        self.extensions: dict[str, billing_pb2.ExtendHoldRequest] = {}
        self.refunds: dict[str, billing_pb2.RefundChargeRequest] = {}
        self.reports: list[alerts_pb2.ReportReadingsRequest] = []

    async def ListPrices(self, request: prices_pb2.ListPricesRequest, context: Any) -> prices_pb2.ListPricesResponse:
        await self.maybe_refuse("ListPrices", context)
        prices = [
            prices_pb2.Price(gpu_type=one, price_micros_per_hour=self.prices.get(one, PRICE_MICROS_PER_HOUR))
            for one in self.gpu_types
        ]
        return prices_pb2.ListPricesResponse(prices=prices)

    async def ReserveCredit(
        self, request: billing_pb2.ReserveCreditRequest, context: Any
    ) -> billing_pb2.ReserveCreditResponse:
        await self.maybe_refuse("ReserveCredit", context)
        hold_id = f"hold-of-{request.idempotency_key}"
        if not request.validate_only:
            self.holds[hold_id] = request
        if "ReserveCredit" in self.meanwhile:
            await self.meanwhile["ReserveCredit"]()
        await self._maybe_lose_answer("ReserveCredit", context)
        prices = {one: self.prices.get(one, PRICE_MICROS_PER_HOUR) for one in request.gpu_types}
        return billing_pb2.ReserveCreditResponse(
            hold_id=hold_id, amount_micros=self.amount(request), prices_micros_per_hour=prices
        )

    async def SettleCharge(
        self, request: billing_pb2.SettleChargeRequest, context: Any
    ) -> billing_pb2.SettleChargeResponse:
        await self.maybe_refuse("SettleCharge", context)
        if request.partial:
            self.parts[request.idempotency_key] = request
            await self._maybe_lose_answer("SettleCharge", context)
            return billing_pb2.SettleChargeResponse(hold_charged_micros=self.charge(request))
        self.settle_calls += 1
        first = self.settled.setdefault(request.hold_id, request)
        if (first.total_time, first.idempotency_key) != (request.total_time, request.idempotency_key):
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "settled with another amount or key")
        await self._maybe_lose_answer("SettleCharge", context)
        parts = (self.charge(part) for part in self.parts.values() if part.hold_id == request.hold_id)
        return billing_pb2.SettleChargeResponse(hold_charged_micros=max(self.charge(request), *parts, 0))

    async def ExtendHold(self, request: billing_pb2.ExtendHoldRequest, context: Any) -> billing_pb2.ExtendHoldResponse:
        await self.maybe_refuse("ExtendHold", context)
        self.extensions[request.idempotency_key] = request
        if "ExtendHold" in self.meanwhile:
            await self.meanwhile["ExtendHold"]()
        held = self.holds[request.hold_id]
        held.longest_time.CopyFrom(request.longest_time)
        return billing_pb2.ExtendHoldResponse(hold_micros=self.amount(held))

    async def RefundCharge(
        self, request: billing_pb2.RefundChargeRequest, context: Any
    ) -> billing_pb2.RefundChargeResponse:
        await self.maybe_refuse("RefundCharge", context)
        self.refunds[request.idempotency_key] = request
        return billing_pb2.RefundChargeResponse()

    def amount(self, held: billing_pb2.ReserveCreditRequest) -> int:
        """What a hold is for."""
        most = max(self.prices.get(one, PRICE_MICROS_PER_HOUR) for one in held.gpu_types)
        return price_of(held.longest_time.ToTimedelta(), most, gpus=held.gpu_count or 1)

    def charge(self, settlement: billing_pb2.SettleChargeRequest) -> int:
        """As billing does: at the price of the GPU type, at most the hold; the amount, if the hold has no prices."""
        held = self.holds.get(settlement.hold_id)
        if held is None:
            return settlement.amount_micros
        prices = {one: self.prices.get(one, PRICE_MICROS_PER_HOUR) for one in held.gpu_types}
        most = self.amount(held)
        asked, price = settlement.total_time.ToTimedelta(), prices[settlement.gpu_type]
        return min(most, price_of(asked, price, gpus=settlement.gpu_count or held.gpu_count or 1))

    def open_holds(self) -> set[str]:
        return set(self.holds) - set(self.settled)

    async def maybe_refuse(self, method: str, context: Any) -> None:
        if method in self.refusals:
            await context.abort(self.refusals[method], f"scripted refusal of {method}")

    async def _maybe_lose_answer(self, method: str, context: Any) -> None:
        if method in self.lost_answers:
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, f"the answer of {method} is lost")


class ScriptedIdentity(identity_pb2_grpc.IdentityServiceServicer):
    """Knows the administrators of a scripted billing service, and is refused like it."""

    def __init__(self, billing: ScriptedBilling) -> None:
        self._billing = billing

    async def GetRole(self, request: identity_pb2.GetRoleRequest, context: Any) -> identity_pb2.GetRoleResponse:
        await self._billing.maybe_refuse("GetRole", context)
        is_administrator = request.user_id in self._billing.administrators
        return identity_pb2.GetRoleResponse(
            role=identity_pb2.ROLE_ADMIN if is_administrator else identity_pb2.ROLE_USER
        )


class ScriptedAlerts(alerts_pb2_grpc.AlertServiceServicer):
    """The alerts of a scripted billing: it keeps the reports, and fails when the billing is told to."""

    def __init__(self, billing: ScriptedBilling) -> None:
        self._billing = billing

    async def ReportReadings(
        self, request: alerts_pb2.ReportReadingsRequest, context: Any
    ) -> alerts_pb2.ReportReadingsResponse:
        await self._billing.maybe_refuse("ReportReadings", context)
        self._billing.reports.append(request)
        return alerts_pb2.ReportReadingsResponse()
