"""ProjectionService: decode, ask, encode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import grpc
from wavepool.billing.v1 import projections_pb2 as pb
from wavepool.billing.v1 import projections_pb2_grpc

from servicekit.clock import Clock
from services.billing.prices.price_list import PriceList
from services.billing.projections.history import MOST_DAYS, DailyFigures, projection
from services.billing.projections.scenario import Assumptions
from services.billing.store.account_store import AccountStore
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.price_store import PriceStore
from services.billing.wire import projections as wire

Context = grpc.aio.ServicerContext[object, object]


@dataclass(frozen=True)
class ProjectionServicer(projections_pb2_grpc.ProjectionServiceServicer):
    """The RPCs of the service; `projections.proto` documents them."""

    figures: DailyFigures
    accounts: AccountStore
    usage: MachineUsageStore
    prices: PriceStore
    gpu_types: Sequence[str]
    grant_micros: int
    machine_budget_micros: int
    clock: Clock

    async def ListScenarios(self, request: pb.ListScenariosRequest, context: Context) -> pb.ListScenariosResponse:
        """Computes what numbers of tasks a day would cost."""
        prices = PriceList(self.gpu_types, await self.prices.periods())
        gpu_type = prices.gpu_type(request.gpu_type)
        assumed = Assumptions(prices.price_at(self.clock.now(), gpu_type).tariff, self.grant_micros)
        return wire.scenarios_to_proto(gpu_type, assumed)

    async def ProjectCosts(self, request: pb.ProjectCostsRequest, context: Context) -> pb.ProjectCostsResponse:
        """Says what an account's own days lead to, or the operator's."""
        account_id = request.account_id
        remaining_micros = await self._remaining_micros(account_id)
        today = self.clock.now().date()
        first = today - timedelta(days=MOST_DAYS)
        days = await self.figures.days(account_id, first, today)
        return wire.projection_to_proto(projection(days, first, today, remaining_micros, of_operator=not account_id))

    async def _remaining_micros(self, account_id: str) -> int:
        if not account_id:
            return self.machine_budget_micros - await self.usage.total_cost_micros()
        balance = (await self.accounts.get(account_id)).balance
        return balance.granted_micros - balance.charged_micros
