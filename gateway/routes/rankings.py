"""`/api/v1/rankings` and `/api/v1/comparisons`: whose kernels are fastest, and which of two is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1.identity_pb2 import ListNamesRequest
from wavepool.scheduler.v1 import rankings_pb2
from wavepool.scheduler.v1.rankings_pb2 import CompareJobsRequest, ListRankingsRequest

from gateway.auth import Caller
from gateway.dependencies import TheAccount, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.submissions.run_frames import NS_PER_MS
from gateway.words.answer_words import ComparisonVerdictWord, Documented
from gateway.words.enum_names import timing_mode_word
from gateway.words.shown import shown
from submissions.modes import TimingMode, timing_number

router = APIRouter(tags=["rankings"], route_class=JsonRoute)

JobId = Annotated[str, Query(min_length=1, max_length=100, description="The id of a submission.")]


class RankedTime(BaseModel):
    """A user's best proven time."""

    rank: Annotated[int | None, Field(description="From 1; equal times have equal ranks. Null if no time ranks.")]
    user: Annotated[str, Field(description="The user's name.")]
    is_you: bool
    submission_id: Annotated[str | None, Field(description="Null: it is another user's, and not public.")]
    runtime_ms: Annotated[float, Field(description="Geometric mean of the cases.")]
    gflops: float
    end_time: datetime | None
    timings: Annotated[int, Field(description="How many of the user's times were counted.")]


class Ranking(BaseModel):
    """The best proven time of each user, for one problem measured in one way."""

    problem: str
    gpu_type: str
    dtype: str
    timing_mode: Annotated[str, Documented(TimingMode)] | None
    ranked: Annotated[bool, Field(description="False for `cpu`: its times say nothing about a GPU.")]
    users: Annotated[int, Field(description="Number of users with such a time.")]
    rankings: Annotated[list[RankedTime], Field(description="Fastest first.")]
    you: Annotated[RankedTime | None, Field(description="Your own best, even if it is further down.")]


class CaseComparison(BaseModel):
    """One case that both were timed with."""

    name: str
    base_runtime_ms: float
    other_runtime_ms: float
    speedup: Annotated[float, Field(description="Above 1 if the other is faster.")]
    speedup_low: Annotated[float, Field(description="The low end of the 95 % interval.")]
    speedup_high: Annotated[float, Field(description="The high end.")]
    verdict: Annotated[
        ComparisonVerdictWord,
        Field(description="Of this case alone; `UNCLEAR` if the times of a submission are not proven."),
    ]


class Comparison(BaseModel):
    """How the other submission's kernel compares with the base's."""

    base: str
    other: str
    verdict: Annotated[ComparisonVerdictWord, Field(description="Treat an unknown word as `UNCLEAR`.")]
    reason: Annotated[str, Field(description="A sentence for people.")]
    speedup: Annotated[float, Field(description="Geometric mean of the cases; above 1 if the other is faster.")]
    speedup_low: Annotated[float, Field(description="The low end of the 95 % interval.")]
    speedup_high: Annotated[float, Field(description="The high end.")]
    cases: list[CaseComparison]


@router.get("/rankings", responses=problems(404))
async def list_rankings(
    account: TheAccount,
    gateway: TheGateway,
    problem: Annotated[str, Query(min_length=1, max_length=100, description="A slug or an alias.")],
    gpu_type: Annotated[
        str, Query(max_length=40, description="In any case, or `cpu`. Default: the operator's default.")
    ] = "",
    dtype: Annotated[str, Query(max_length=40, description="The element type. Default: the problem's.")] = "",
    timing: Annotated[TimingMode | None, Query(description="Default: the device's.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Ranking:
    """List the best proven time of each user for a problem. Only times of one GPU type and one way rank together."""
    request = ListRankingsRequest(
        problem=problem,
        gpu_type=gpu_type,
        dtype=dtype,
        timing_mode=timing_number(timing),
        limit=limit,
        user_id=account.user_id,
    )
    found = await call(gateway.upstreams.rankings.ListRankings, request, {"timing_mode": "timing"})
    wanted = ListNamesRequest(user_ids=[one.user_id for one in found.rankings])
    names = await call(gateway.upstreams.identity.ListNames, wanted)
    return shown(
        Ranking,
        found,
        timing_mode=timing_mode_word(found.timing_mode),
        rankings=[_ranked_of(one, account, names.names) for one in found.rankings],
        you=_ranked_of(found.own, account, names.names) if found.HasField("own") else None,
    )


@router.get("/comparisons", responses=problems(404, 409))
async def compare_submissions(base: JobId, other: JobId, account: TheAccount, gateway: TheGateway) -> Comparison:
    """Compare the speed of the kernels of two submissions. `409`: they were measured in different ways."""
    request = CompareJobsRequest(
        account_ids=[] if account.oversees else sorted(account.visible_account_ids),
        base_job_id=base,
        other_job_id=other,
        or_shared=True,
    )
    found = await call(gateway.upstreams.rankings.CompareJobs, request)
    cases = [
        shown(
            CaseComparison,
            case,
            base_runtime_ms=case.base_runtime_ns / NS_PER_MS,
            other_runtime_ms=case.other_runtime_ns / NS_PER_MS,
        )
        for case in found.cases
    ]
    return shown(Comparison, found, base=base, other=other, cases=cases)


def _ranked_of(one: rankings_pb2.Ranking, account: Caller, names: Mapping[str, str]) -> RankedTime:
    is_you = one.user_id == account.user_id
    return shown(
        RankedTime,
        one,
        user=account.user_name if is_you else names.get(one.user_id, "(unknown)"),
        is_you=is_you,
        submission_id=one.job_id if is_you or account.oversees or one.is_public else None,
        runtime_ms=one.runtime_ns / NS_PER_MS,
    )
