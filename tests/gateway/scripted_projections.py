"""A projection service whose answers are written here; it notes what it was asked."""

# ruff: noqa: N802 - RPCs are VerbNoun
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from wavepool.billing.v1 import projections_pb2 as pb
from wavepool.billing.v1 import projections_pb2_grpc

if TYPE_CHECKING:
    from tests.gateway.refusals import Refusals

NO_DAYS = pb.ProjectCostsResponse(least_days=7, remaining_micros=1_000_000_000)
MANY_DAYS = pb.ProjectCostsResponse(
    days=30,
    least_days=7,
    remaining_micros=60_000_000,
    month=pb.MonthRange(low_micros=20_000_000, middle_micros=25_000_000, high_micros=30_000_000),
    months_left_low=2.0,
    months_left_high=3.0,
    task_costs=pb.TaskCosts(
        tasks=47,
        cold_tasks=3,
        spent_micros=5_250_000,
        mean_micros=111_702.1,
        cold_micros=969_858.2,
        warm_micros=53_191.5,
    ),
)


class ScriptedProjections(projections_pb2_grpc.ProjectionServiceServicer):
    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.history = NO_DAYS

    async def ListScenarios(self, request: Any, context: Any) -> pb.ListScenariosResponse:
        await self.refusals.meet("ListScenarios", request, context)
        cases = [
            pb.ScenarioCase(reuse=pb.REUSE_NONE, task_micros=131_562, month_micros=39_468_334, grant_months=35.5),
            pb.ScenarioCase(reuse=pb.REUSE_SITTINGS, warm_share=0.936, task_micros=65_800, month_micros=19_750_000),
        ]
        return pb.ListScenariosResponse(
            assumptions=pb.Assumptions(
                gpu_type="MI300X",
                price_micros_per_hour=1_990_000,
                cold_start=Duration(seconds=210),
                run=Duration(seconds=28),
                idle_timeout=Duration(seconds=300),
                warm_share=44 / 47,
                grant_micros=1_400_000_000,
                days_per_month=30,
            ),
            scenarios=[pb.Scenario(tasks_per_day=10, cases=cases)],
            circulating=[
                pb.CirculatingFigure(tasks_per_day=10, low_micros=15_000_000, high_micros=30_000_000, months=8)
            ],
            left_out=["8 months at $30.00 are $240.00."],
        )

    async def ProjectCosts(self, request: Any, context: Any) -> pb.ProjectCostsResponse:
        await self.refusals.meet("ProjectCosts", request, context)
        return self.history

    def forget(self) -> None:
        """Returns to the initial state."""
        self.history = NO_DAYS
