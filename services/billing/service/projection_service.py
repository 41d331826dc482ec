"""ProjectionService: decode, ask, encode."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from wavepool.billing.v1 import projections_pb2 as pb
from wavepool.billing.v1 import projections_pb2_grpc

from services.billing.prices.price_list import PriceList
from services.billing.projections.history import MOST_DAYS, projection
from services.billing.projections.scenario import Assumptions
from services.billing.wire import projections as wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    import grpc

    from servicekit.clock import Clock
    from services.billing.projections.history import DailyFigures
    from services.billing.store.account_store import AccountStore
    from services.billing.store.machine_usage_store import MachineUsageStore
    from services.billing.store.price_store import PriceStore

    Context = grpc.aio.ServicerContext[object, object]


class ProjectionServicer(projections_pb2_grpc.ProjectionServiceServicer):
    """The RPCs of the service; `projections.proto` documents them."""

    def __init__(
        self,
        figures: DailyFigures,
        accounts: AccountStore,
        usage: MachineUsageStore,
        prices: PriceStore,
        gpu_types: Sequence[str],
        grant_micros: int,
        machine_budget_micros: int,
        clock: Clock,
    ) -> None:
        self._figures = figures
        self._accounts = accounts
        self._usage = usage
        self._prices = prices
        self._gpu_types = gpu_types
        self._grant_micros = grant_micros
        self._machine_budget_micros = machine_budget_micros
        self._clock = clock

    async def ListScenarios(self, request: pb.ListScenariosRequest, context: Context) -> pb.ListScenariosResponse:
        """Computes what numbers of tasks a day would cost."""
        prices = PriceList(self._gpu_types, await self._prices.periods())
        gpu_type = prices.gpu_type(request.gpu_type)
        assumed = Assumptions(prices.price_at(self._clock.now(), gpu_type).tariff, self._grant_micros)
        return wire.scenarios_to_proto(gpu_type, assumed)

    async def ProjectCosts(self, request: pb.ProjectCostsRequest, context: Context) -> pb.ProjectCostsResponse:
        """Says what an account's own days lead to, or the operator's."""
        account_id = request.account_id
        remaining_micros = await self._remaining_micros(account_id)
        today = self._clock.now().date()
        first = today - timedelta(days=MOST_DAYS)
        days = await self._figures.days(account_id, first, today)
        return wire.projection_to_proto(projection(days, first, today, remaining_micros, of_operator=not account_id))

    async def _remaining_micros(self, account_id: str) -> int:
        if not account_id:
            return self._machine_budget_micros - await self._usage.total_cost_micros()
        balance = (await self._accounts.get(account_id)).balance
        return balance.granted_micros - balance.charged_micros
