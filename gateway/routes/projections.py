"""`/api/v1/billing/projections`: what GPU time will cost."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1 import projections_pb2
from wavepool.billing.v1.projections_pb2 import ListScenariosRequest, ProjectCostsRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.http.errors import Problem, ProblemError
from gateway.http.route_docs import problems
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.shown import shown
from vocabulary.money import dollars_of

router = APIRouter(prefix="/billing", tags=["billing"])


class Assumptions(BaseModel):
    """The assumptions of the scenarios."""

    gpu_type: str
    price_usd_per_hour: float
    minimum_billed_seconds: float
    billing_increment_seconds: float
    cold_start_seconds: float
    run_seconds: float
    idle_timeout_seconds: float
    warm_share: Annotated[float, Field(description="Of tasks that come in sittings.")]
    grant_usd: float
    days_per_month: int


class ScenarioCase(BaseModel):
    """The cost of a number of tasks a day with one kind of reuse."""

    reuse: Annotated[
        str,
        Field(
            description="`NONE`: each task gets a machine of its own. `SPREAD`: a machine waits for the next task, and "
            "tasks come at any time. `SITTINGS`: the same, and the assumed share of tasks is warm."
        ),
    ]
    warm_share: float
    idle_seconds_per_task: float
    billed_seconds_per_task: float
    task_usd: float
    month_usd: float
    grant_months: Annotated[float | None, Field(description="Months until the grant ends; null: never.")]


class Scenario(BaseModel):
    """A number of tasks a day."""

    tasks_per_day: int
    cases: list[ScenarioCase]


class CirculatingFigure(BaseModel):
    """A claim that is in circulation."""

    tasks_per_day: int
    month_low_usd: float
    month_high_usd: float
    grant_months: int


class MonthRange(BaseModel):
    """An amount that four of five months stay within, and its middle."""

    low_usd: float
    middle_usd: float
    high_usd: float


class TaskCosts(BaseModel):
    """The actual cost of tasks. Cold and warm tasks at these costs add up to all that was spent."""

    tasks: int
    cold_tasks: int
    spent_usd: float
    mean_usd: float
    cold_usd: Annotated[float | None, Field(description="Of a task that waited for a machine to start; null: unknown.")]
    warm_usd: Annotated[float | None, Field(description="Of a task that found a machine; null: unknown.")]


class HistoryProjection(BaseModel):
    """The cost of future days like past ones."""

    days: Annotated[int, Field(description="Whole days since the first with any activity, at most 90.")]
    least_days: Annotated[int, Field(description="With fewer days, no range is given.")]
    remaining_usd: float
    month: MonthRange | None
    months_left_low: Annotated[
        float | None, Field(description="At the high end of the range; null: unknown, or never.")
    ]
    months_left_high: Annotated[
        float | None, Field(description="At the low end of the range; null: unknown, or never.")
    ]
    task_costs: Annotated[TaskCosts | None, Field(description="Null: there was no task.")]


class Projections(BaseModel):
    """The future cost of GPU time: from assumptions, and from past days."""

    assumptions: Assumptions
    scenarios: list[Scenario]
    circulating: Annotated[list[CirculatingFigure], Field(description="Published figures.")]
    left_out: Annotated[list[str], Field(description="Costs that those figures do not include.")]
    history: HistoryProjection


@router.get("/projections", responses=problems(403))
async def get_projections(
    account: TheAccount,
    gateway: TheGateway,
    operator: Annotated[bool, Query(description="The operator's days and costs, for operators.")] = False,  # noqa: FBT002 - a query parameter
    gpu_type: Annotated[str, Query(max_length=40, description="In any case; default: the operator's default.")] = "",
) -> Projections:
    """Project the cost of tasks: from their number a day, and from your own past days, or the operator's."""
    if operator and not account.oversees:
        raise ProblemError(Problem(403, "The operator's costs need the token of an operator."))
    own = ProjectCostsRequest(account_id="" if operator else account.account_id)
    billing = gateway.upstreams.projections
    scenarios, history = await asyncio.gather(
        billing.ListScenarios(ListScenariosRequest(gpu_type=gpu_type), timeout=CALL_TIMEOUT_SECONDS),
        billing.ProjectCosts(own, timeout=CALL_TIMEOUT_SECONDS),
    )
    return projections_of(scenarios, history)


def projections_of(
    answer: projections_pb2.ListScenariosResponse, history: projections_pb2.ProjectCostsResponse
) -> Projections:
    """The scenarios and the projection from the days that were."""
    circulating = [
        CirculatingFigure(
            tasks_per_day=figure.tasks_per_day,
            month_low_usd=dollars_of(figure.low_micros),
            month_high_usd=dollars_of(figure.high_micros),
            grant_months=figure.months,
        )
        for figure in answer.circulating
    ]
    return shown(Projections, answer, circulating=circulating, history=shown(HistoryProjection, history))
