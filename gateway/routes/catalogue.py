"""`/api/v1/problems`: what can be solved."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from wavepool.scheduler.v1.scheduler_pb2 import GetProblemRequest, ListProblemsRequest

from gateway.dependencies import TheAccount, TheGateway
from gateway.route_docs import problems
from gateway.schemas import ProblemDetail, ProblemList
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.views import problem_detail_of, problem_summary_of

DtypeQuery = Annotated[str, Query(max_length=40, description="The element type of signature and starter.")]

router = APIRouter(prefix="/problems", tags=["problems"])


@router.get("")
async def list_problems(_: TheAccount, gateway: TheGateway) -> ProblemList:
    """The catalogue, by slug."""
    answer = await gateway.upstreams.scheduler.ListProblems(ListProblemsRequest(), timeout=CALL_TIMEOUT_SECONDS)
    return ProblemList(problems=[problem_summary_of(problem) for problem in answer.problems])


@router.get("/{slug}", responses=problems(404))
async def get_problem(slug: str, _: TheAccount, gateway: TheGateway, dtype: DtypeQuery = "") -> ProblemDetail:
    """One problem with its statement and a source to begin from."""
    request = GetProblemRequest(slug=slug, dtype=dtype)
    return problem_detail_of(await gateway.upstreams.scheduler.GetProblem(request, timeout=CALL_TIMEOUT_SECONDS))
