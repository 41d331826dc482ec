"""`/api/v1/rankings` and `/api/v1/comparisons`: whose kernels are fastest, and which of two is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1.identity_pb2 import ListNamesRequest
from wavepool.scheduler.v1 import rankings_pb2
from wavepool.scheduler.v1.rankings_pb2 import CompareJobsRequest, ListRankingsRequest, ListRecordsRequest

from gateway.auth import Caller
from gateway.dependencies import Gateway, TheAccount, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.submissions.event_schemas import RuntimeInterval
from gateway.words.answer_words import ComparisonVerdictWord, Documented
from gateway.words.proto_time import instant_of
from gateway.words.shown import shown
from submissions.modes import TimingMode, timing_number

router = APIRouter(tags=["rankings"], route_class=JsonRoute)

JobId = Annotated[str, Query(min_length=1, max_length=100, description="The id of a submission.")]
NAMES_AT_ONCE = 200


class TimesQuery(BaseModel):
    """The times that rank with one another: those of a problem that were measured in one way."""

    problem: Annotated[str, Field(min_length=1, max_length=100, description="A slug or an alias.")]
    gpu_type: Annotated[
        str, Field(max_length=40, description="In any case, or `cpu`. Default: the operator's default.")
    ] = ""
    dtype: Annotated[str, Field(max_length=40, description="The element type. Default: the problem's.")] = ""
    timing: Annotated[TimingMode | None, Field(description="Default: the device's.")] = None

    def fields(self, user_id: str) -> dict[str, Any]:
        """The scheduler's form of it; of this user, their own times are wanted as well."""
        way = {"gpu_type": self.gpu_type, "dtype": self.dtype, "timing_mode": timing_number(self.timing)}
        return {"problem": self.problem, **way, "user_id": user_id}


class RankingQuery(TimesQuery):
    """A ranking of these times."""

    limit: Annotated[int, Field(ge=1, le=200)] = 20


class RankedTime(BaseModel):
    """A user's best proven time."""

    rank: Annotated[int | None, Field(description="From 1; equal times have equal ranks. Null if no time ranks.")]
    user: Annotated[str, Field(description="The user's name.")]
    is_you: bool
    submission_id: Annotated[str | None, Field(description="Null: it is another user's, and not public.")]
    runtime_ms: Annotated[float, Field(description="Geometric mean of the cases.")]
    runtime_interval: RuntimeInterval
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


class RecordTime(BaseModel):
    """A time that was the best so far."""

    time: datetime | None
    runtime_ms: Annotated[float, Field(description="Geometric mean of the cases.")]
    runtime_interval: RuntimeInterval
    user: Annotated[str, Field(description="The user's name.")]
    is_you: bool
    submission_id: Annotated[str | None, Field(description="Null: it is another user's, and not public.")]


class RecordHistory(BaseModel):
    """How the best proven time of a problem changed, measured in one way. Of more than 500 times, the last ones."""

    problem: str
    gpu_type: str
    dtype: str
    timing_mode: Annotated[str, Documented(TimingMode)] | None
    ranked: Annotated[bool, Field(description="False for `cpu`: its times say nothing about a GPU.")]
    records: Annotated[list[RecordTime], Field(description="Each faster than all before it; oldest first.")]
    you: Annotated[list[RecordTime], Field(description="The same of your own times alone.")]


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
async def list_rankings(account: TheAccount, gateway: TheGateway, query: Annotated[RankingQuery, Query()]) -> Ranking:
    """List the best proven time of each user for a problem. Only times of one GPU type and one way rank together."""
    request = ListRankingsRequest(limit=query.limit, **query.fields(account.user_id))
    found = await call(gateway.upstreams.rankings.ListRankings, request, {"timing_mode": "timing"})
    names = await _names(gateway, [one.user_id for one in found.rankings])
    return shown(
        Ranking,
        found,
        rankings=[_ranked_of(one, account, names) for one in found.rankings],
        you=_ranked_of(found.own, account, names) if found.HasField("own") else None,
    )


@router.get("/rankings/history", responses=problems(404))
async def list_records(
    account: TheAccount, gateway: TheGateway, query: Annotated[TimesQuery, Query()]
) -> RecordHistory:
    """List the record of a problem over time, and your own best over time."""
    request = ListRecordsRequest(**query.fields(account.user_id))
    found = await call(gateway.upstreams.rankings.ListRecords, request, {"timing_mode": "timing"})
    names = await _names(gateway, [one.user_id for one in found.records])
    return shown(
        RecordHistory,
        found,
        records=[_record_of(one, account, names) for one in found.records],
        you=[_record_of(one, account, names) for one in found.own],
    )


@router.get("/comparisons", responses=problems(404, 409))
async def compare_submissions(base: JobId, other: JobId, account: TheAccount, gateway: TheGateway) -> Comparison:
    """Compare the speed of the kernels of two submissions. `409`: they were measured in different ways."""
    request = CompareJobsRequest(
        account_ids=account.overseen_account_ids,
        base_job_id=base,
        other_job_id=other,
        or_shared=True,
    )
    found = await call(gateway.upstreams.rankings.CompareJobs, request)
    return shown(Comparison, found, base=base, other=other)


async def _names(gateway: Gateway, user_ids: Iterable[str]) -> Mapping[str, str]:
    """Names by the ids of users; billing gives so many at once."""
    wanted = sorted(set(user_ids))
    answers = [
        await call(
            gateway.upstreams.identity.ListNames, ListNamesRequest(user_ids=wanted[first : first + NAMES_AT_ONCE])
        )
        for first in range(0, len(wanted), NAMES_AT_ONCE)
    ]
    return {user_id: name for answer in answers for user_id, name in answer.names.items()}


def _ranked_of(one: rankings_pb2.Ranking, account: Caller, names: Mapping[str, str]) -> RankedTime:
    return shown(RankedTime, one, runtime_interval=one.interval or None, **_owner(one, account, names))


def _record_of(one: rankings_pb2.Record, account: Caller, names: Mapping[str, str]) -> RecordTime:
    own = _owner(one, account, names)
    return shown(RecordTime, one, time=instant_of(one.end_time), runtime_interval=one.interval or None, **own)


def _owner(
    one: rankings_pb2.Ranking | rankings_pb2.Record, account: Caller, names: Mapping[str, str]
) -> dict[str, Any]:
    """The user of a time, and its submission if the caller may see it."""
    is_you = one.user_id == account.user_id
    return {
        "user": account.user_name if is_you else names.get(one.user_id, "(unknown)"),
        "is_you": is_you,
        "submission_id": one.job_id if is_you or account.oversees or one.is_public else None,
    }
