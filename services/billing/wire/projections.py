"""Converts billing's own types to the messages of projections.proto."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wavepool.billing.v1 import projections_pb2 as pb

from servicekit.rpc.proto_time import duration_to_proto
from services.billing.projections.circulating import CIRCULATING, left_out
from services.billing.projections.history import LEAST_DAYS
from services.billing.projections.scenario import DAYS_PER_MONTH, TASKS_PER_DAY, Reuse, scenario

if TYPE_CHECKING:
    from services.billing.projections.history import Projection, TaskCosts
    from services.billing.projections.scenario import Assumptions, Case

_REUSES = {Reuse.NONE: pb.REUSE_NONE, Reuse.SPREAD: pb.REUSE_SPREAD, Reuse.SITTINGS: pb.REUSE_SITTINGS}


def scenarios_to_proto(gpu_type: str, assumed: Assumptions) -> pb.ListScenariosResponse:
    """The scenarios, with all that they are computed from."""
    scenarios = [scenario(assumed, tasks) for tasks in TASKS_PER_DAY]
    return pb.ListScenariosResponse(
        assumptions=_assumptions_to_proto(gpu_type, assumed),
        scenarios=[
            pb.Scenario(tasks_per_day=one.tasks_per_day, cases=[_case_to_proto(case) for case in one.cases])
            for one in scenarios
        ],
        circulating=[
            pb.CirculatingFigure(
                tasks_per_day=figure.tasks_per_day,
                low_micros=figure.low_micros,
                high_micros=figure.high_micros,
                months=figure.months,
            )
            for figure in CIRCULATING
        ],
        left_out=left_out(assumed),
    )


def projection_to_proto(projected: Projection) -> pb.ProjectCostsResponse:
    """A projection from the days that were."""
    month, left = projected.month, projected.months_left
    return pb.ProjectCostsResponse(
        days=projected.days,
        least_days=LEAST_DAYS,
        remaining_micros=projected.remaining_micros,
        month=month
        and pb.MonthRange(
            low_micros=month.low_micros, middle_micros=month.middle_micros, high_micros=month.high_micros
        ),
        months_left_low=left[0] if left else None,
        months_left_high=left[1] if left else None,
        task_costs=projected.task_costs and _task_costs_to_proto(projected.task_costs),
    )


def _assumptions_to_proto(gpu_type: str, assumed: Assumptions) -> pb.Assumptions:
    return pb.Assumptions(
        gpu_type=gpu_type,
        price_micros_per_hour=assumed.tariff.price_micros_per_hour,
        minimum_billed=duration_to_proto(assumed.tariff.minimum),
        billing_increment=duration_to_proto(assumed.tariff.increment),
        cold_start=duration_to_proto(assumed.cold_start),
        run=duration_to_proto(assumed.run),
        idle_timeout=duration_to_proto(assumed.idle_timeout),
        warm_share=assumed.warm_share,
        grant_micros=assumed.grant_micros,
        days_per_month=DAYS_PER_MONTH,
    )


def _case_to_proto(case: Case) -> pb.ScenarioCase:
    return pb.ScenarioCase(
        reuse=_REUSES[case.reuse],
        warm_share=case.warm_share,
        idle_per_task=duration_to_proto(case.idle_per_task),
        billed_per_task=duration_to_proto(case.billed_per_task),
        task_micros=case.task_micros,
        month_micros=case.month_micros,
        grant_months=case.grant_months,
    )


def _task_costs_to_proto(costs: TaskCosts) -> pb.TaskCosts:
    return pb.TaskCosts(
        tasks=costs.tasks,
        cold_tasks=costs.cold_tasks,
        spent_micros=costs.spent_micros,
        mean_micros=costs.mean_micros,
        cold_micros=costs.cold_micros,
        warm_micros=costs.warm_micros,
    )
