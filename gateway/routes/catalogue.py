"""`/api/v1/problems` and `/api/v1/gpu-types`: the problems, and the GPU types with their prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1.prices_pb2 import ListPricesRequest
from wavepool.scheduler.v1.scheduler_pb2 import GetProblemRequest, ListProblemsRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.http.route_docs import problems
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from wavepool.billing.v1 import prices_pb2
    from wavepool.scheduler.v1 import scheduler_pb2

DtypeQuery = Annotated[str, Query(max_length=40, description="The element type of signature and starter.")]

router = APIRouter(tags=["problems"])


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


class ProblemDetail(ProblemSummary):
    """A problem with its texts."""

    statement: Annotated[str, Field(description="Markdown.")]
    starter: Annotated[str, Field(description="HIP source to start from.")]


class ProblemList(BaseModel):
    """The catalogue, by slug."""

    problems: list[ProblemSummary]


@router.get("/problems")
async def list_problems(_: TheAccount, gateway: TheGateway) -> ProblemList:
    """List the problems of the catalogue, by slug."""
    answer = await gateway.upstreams.scheduler.ListProblems(ListProblemsRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return ProblemList(problems=[problem_summary_of(problem) for problem in answer.problems])


@router.get("/problems/{slug}", responses=problems(404))
async def get_problem(slug: str, _: TheAccount, gateway: TheGateway, dtype: DtypeQuery = "") -> ProblemDetail:
    """Get one problem with its statement and a source to start from."""
    request = GetProblemRequest(slug=slug, dtype=dtype)
    return problem_detail_of(await gateway.upstreams.scheduler.GetProblem(request, timeout=CALL_TIMEOUT_SECONDS))


@router.get("/gpu-types")
async def list_gpu_types(_: TheAccount, gateway: TheGateway) -> GpuTypes:
    """List the GPU types that can be asked for, with their prices."""
    return gpu_types_of(await gateway.upstreams.prices.ListPrices(ListPricesRequest(), timeout=CALL_TIMEOUT_SECONDS))


def gpu_types_of(answer: prices_pb2.ListPricesResponse) -> GpuTypes:
    """The price list."""
    return GpuTypes(
        gpu_types=[
            GpuPrice(gpu_type=price.gpu_type, price_usd_per_hour=dollars_of(price.price_micros_per_hour))
            for price in answer.prices
        ]
    )


def problem_summary_of(problem: scheduler_pb2.ProblemSummary) -> ProblemSummary:
    """A problem of the catalogue."""
    return ProblemSummary(**_problem_fields(problem))


def problem_detail_of(answer: scheduler_pb2.GetProblemResponse) -> ProblemDetail:
    """A problem with its texts."""
    return ProblemDetail(**_problem_fields(answer.problem), statement=answer.statement, starter=answer.starter)


def _problem_fields(problem: scheduler_pb2.ProblemSummary) -> dict[str, Any]:
    return {
        "slug": problem.slug,
        "title": problem.title,
        "difficulty": problem.difficulty,
        "tags": list(problem.tags),
        "dtypes": list(problem.dtypes),
        "signature": problem.signature,
    }
