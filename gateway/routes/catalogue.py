"""`/api/v1/problems` and `/api/v1/gpu-types`: what can be solved, and on what."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from wavepool.billing.v1.billing_pb2 import ListPricesRequest
from wavepool.scheduler.v1.scheduler_pb2 import GetProblemRequest, ListProblemsRequest

from gateway.catalogue import (
    GpuTypes,
    ProblemDetail,
    ProblemList,
    gpu_types_of,
    problem_detail_of,
    problem_summary_of,
)
from gateway.dependencies import TheAccount, TheGateway
from gateway.http.route_docs import problems
from gateway.upstreams import CALL_TIMEOUT_SECONDS

DtypeQuery = Annotated[str, Query(max_length=40, description="The element type of signature and starter.")]

router = APIRouter(tags=["problems"])


@router.get("/problems")
async def list_problems(_: TheAccount, gateway: TheGateway) -> ProblemList:
    """The catalogue, by slug."""
    answer = await gateway.upstreams.scheduler.ListProblems(ListProblemsRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return ProblemList(problems=[problem_summary_of(problem) for problem in answer.problems])


@router.get("/problems/{slug}", responses=problems(404))
async def get_problem(slug: str, _: TheAccount, gateway: TheGateway, dtype: DtypeQuery = "") -> ProblemDetail:
    """One problem with its statement and a source to begin from."""
    request = GetProblemRequest(slug=slug, dtype=dtype)
    return problem_detail_of(await gateway.upstreams.scheduler.GetProblem(request, timeout=CALL_TIMEOUT_SECONDS))


@router.get("/gpu-types")
async def list_gpu_types(_: TheAccount, gateway: TheGateway) -> GpuTypes:
    """The GPU types that may be asked for, and what each costs."""
    return gpu_types_of(await gateway.upstreams.billing.ListPrices(ListPricesRequest(), timeout=CALL_TIMEOUT_SECONDS))
