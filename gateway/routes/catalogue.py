"""`/api/v1/problems` and `/api/v1/gpu-types`: the problems, and the GPU types with their prices."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1 import prices_pb2
from wavepool.billing.v1.prices_pb2 import ListPricesRequest
from wavepool.scheduler.v1 import rankings_pb2, scheduler_pb2
from wavepool.scheduler.v1.rankings_pb2 import ListProgressRequest
from wavepool.scheduler.v1.scheduler_pb2 import GetProblemRequest, ListProblemsRequest

from gateway.dependencies import TheAccount, TheGateway, TheReader
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.submissions.event_schemas import RuntimeInterval
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.answer_words import BoundWord, Documented
from gateway.words.shown import shown
from submissions.modes import TimingMode

DtypeQuery = Annotated[str, Query(max_length=40, description="The element type of signature and starter.")]

UNTRIED = rankings_pb2.ProblemProgress()

router = APIRouter(tags=["problems"], route_class=JsonRoute)


class GpuPrice(BaseModel):
    """A GPU type that can be asked for."""

    gpu_type: str
    price_usd_per_hour: Annotated[float, Field(description="Of one whole GPU.")]


class GpuTypes(BaseModel):
    """GPU types that a submission can ask for, with their prices."""

    gpu_types: Annotated[list[GpuPrice], Field(description="The first is the default.")]


class ProblemSummary(BaseModel):
    """A problem of the catalogue."""

    slug: str
    title: str
    difficulty: str
    tags: list[str]
    dtypes: list[str]
    signature: Annotated[str, Field(description="The parameters of `solution`, in order.")]


class ProblemParameter(BaseModel):
    """A parameter of `solution`."""

    name: str
    type: Annotated[str, Field(description="The C type of an element, or of a scalar.")]
    const: bool
    pointer: bool
    meaning: Annotated[str, Field(description="Markdown.")]


class ProblemCase(BaseModel):
    """A case that is timed, and what the GPU type allows."""

    name: str
    sizes: Annotated[dict[str, str], Field(description="Its numbers; a list has commas between them.")]
    bytes: Annotated[float, Field(description="Compulsory traffic: inputs read once, outputs written once.")]
    flops: Annotated[float, Field(description="Operations that the algorithm needs.")]
    least_ms: Annotated[
        float | None,
        Field(description="The time of a call that reaches the roof; null: its figures are not known."),
    ]
    bound: Annotated[BoundWord | None, Field(description="The roof; null without one.")]


class ProblemDetail(ProblemSummary):
    """A problem with its texts."""

    statement: Annotated[str, Field(description="Markdown.")]
    starter: Annotated[str, Field(description="HIP source to start from.")]
    parameters: Annotated[list[ProblemParameter], Field(description="In order.")]
    gpu_type: Annotated[str, Field(description="The GPU type of the cases, or `cpu`, whose cases are smaller.")]
    cases: list[ProblemCase]


class ProblemStatus(StrEnum):
    """How far you have come with a problem."""

    NONE = "none"
    TRIED = "tried"
    SOLVED = "solved"


class ListedProblem(ProblemSummary):
    """A problem, how far you have come with it, and how far everybody has."""

    status: Annotated[ProblemStatus, Field(description="`solved`: a `full` run of yours was accepted, on any device.")]
    attempts: Annotated[
        int, Field(description="Your submissions that ended with a verdict, in the modes `check`, `benchmark`, `full`.")
    ]
    best_runtime_ms: Annotated[float | None, Field(description="Your best proven time; null: none.")]
    best_runtime_interval: RuntimeInterval
    record_runtime_ms: Annotated[float | None, Field(description="The best proven time of all; null: none.")]
    record_runtime_interval: RuntimeInterval
    users: Annotated[int, Field(description="Users who solved it.")]


class ProblemList(BaseModel):
    """The catalogue, by slug. The times are of the GPU type, element type and timing mode that it names."""

    gpu_type: str
    dtype: str
    timing_mode: Annotated[str, Documented(TimingMode)] | None
    problems: list[ListedProblem]
    total: int


@router.get("/problems", responses=problems(429))
async def list_problems(
    account: TheReader,
    gateway: TheGateway,
    gpu_type: Annotated[
        str, Query(max_length=40, description="Of the times; in any case, or `cpu`. Default: the operator's default.")
    ] = "",
    dtype: Annotated[
        str,
        Query(
            max_length=40, description="The element type. Default: status, attempts and users of all, times of float32."
        ),
    ] = "",
) -> ProblemList:
    """List the problems of the catalogue, by slug, with what your token's user has reached in each.

    If the operator has made problems public, this needs no token, and without one nothing is reached.
    """
    asked = ListProgressRequest(user_id=account.user_id if account else "", gpu_type=gpu_type, dtype=dtype)
    catalogue, progress = await asyncio.gather(
        call(gateway.upstreams.scheduler.ListProblems, ListProblemsRequest()),
        call(gateway.upstreams.rankings.ListProgress, asked),
    )
    return problem_list_of(catalogue, progress)


def _listed(problem: scheduler_pb2.ProblemSummary, reached: rankings_pb2.ProblemProgress) -> ListedProblem:
    tried = ProblemStatus.TRIED if reached.attempts else ProblemStatus.NONE
    return shown(
        ListedProblem,
        problem,
        reached,
        status=ProblemStatus.SOLVED if reached.solved else tried,
        best_runtime_interval=reached.best_interval or None,
        record_runtime_interval=reached.record_interval or None,
    )


@router.get("/problems/{slug}", responses=problems(404, 429))
async def get_problem(
    slug: str,
    _: TheReader,
    gateway: TheGateway,
    dtype: DtypeQuery = "",
    gpu_type: Annotated[
        str, Query(max_length=40, description="Of the cases; in any case, or `cpu`. Default: the operator's default.")
    ] = "",
) -> ProblemDetail:
    """Get one problem with its statement, a source to start from, and its cases on a GPU type.

    If the operator has made problems public, this needs no token.
    """
    request = GetProblemRequest(slug=slug, dtype=dtype, gpu_type=gpu_type)
    return problem_detail_of(await call(gateway.upstreams.scheduler.GetProblem, request))


@router.get("/gpu-types")
async def list_gpu_types(_: TheAccount, gateway: TheGateway) -> GpuTypes:
    """List the GPU types that can be asked for, with their prices."""
    return gpu_types_of(await gateway.upstreams.prices.ListPrices(ListPricesRequest(), timeout=CALL_TIMEOUT_SECONDS))


def gpu_types_of(answer: prices_pb2.ListPricesResponse) -> GpuTypes:
    """The price list."""
    return GpuTypes(gpu_types=[shown(GpuPrice, price) for price in answer.prices])


def problem_list_of(
    catalogue: scheduler_pb2.ListProblemsResponse, progress: rankings_pb2.ListProgressResponse
) -> ProblemList:
    """The catalogue, with what has been reached in each problem."""
    reached = {one.slug: one for one in progress.problems}
    return shown(
        ProblemList,
        progress,
        problems=[_listed(problem, reached.get(problem.slug, UNTRIED)) for problem in catalogue.problems],
        total=len(catalogue.problems),
    )


def problem_detail_of(answer: scheduler_pb2.GetProblemResponse) -> ProblemDetail:
    """A problem with its texts."""
    cases = [shown(ProblemCase, case, sizes={size.name: size.value for size in case.sizes}) for case in answer.cases]
    return shown(ProblemDetail, answer, answer.problem, cases=cases)
