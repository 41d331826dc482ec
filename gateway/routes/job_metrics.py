"""`/api/v1/metrics/jobs` and `/api/v1/metrics/queues`: what became of jobs that are over, and what waits now."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from wavepool.billing.v1.identity_pb2 import ListNamesRequest
from wavepool.scheduler.v1 import metrics_pb2

from gateway.dependencies import Gateway, TheAccount, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from gateway.words.proto_time import RequestInstant, instant_of, timestamp_of
from gateway.words.shown import shown

router = APIRouter(prefix="/metrics", tags=["metrics"], route_class=JsonRoute)


class Grouping(StrEnum):
    """How jobs are grouped."""

    ALL = "all"
    USER = "user"
    QUEUE = "queue"
    MACHINE = "machine"
    PROBLEM = "problem"
    GPU_TYPE = "gpu_type"


_GROUPINGS = {
    Grouping.ALL: metrics_pb2.JOB_GROUPING_UNSPECIFIED,
    Grouping.USER: metrics_pb2.JOB_GROUPING_USER,
    Grouping.QUEUE: metrics_pb2.JOB_GROUPING_QUEUE,
    Grouping.MACHINE: metrics_pb2.JOB_GROUPING_MACHINE,
    Grouping.PROBLEM: metrics_pb2.JOB_GROUPING_PROBLEM,
    Grouping.GPU_TYPE: metrics_pb2.JOB_GROUPING_GPU_TYPE,
}


class Spread(BaseModel):
    """Times that 50 % and 90 % of the jobs do not exceed."""

    p50_seconds: float
    p90_seconds: float


class JobFigures(BaseModel):
    """The figures of one group."""

    group: Annotated[
        str, Field(description="A user's or machine's id, a queue, a problem or a GPU type; may be empty.")
    ]
    name: Annotated[str, Field(description="For people: a user's name, otherwise the group itself.")]
    jobs: Annotated[int, Field(description="That ended: `succeeded` + `failed` + `cancelled`.")]
    succeeded: Annotated[int, Field(description="With any verdict about the submission.")]
    accepted: Annotated[int, Field(description="With the verdict `ACCEPTED`.")]
    failed: Annotated[int, Field(description="By our fault.")]
    cancelled: int
    lost_attempts: Annotated[
        int,
        Field(
            description="Attempts that ended through no fault of the submission; those that a user stopped "
            "do not count."
        ),
    ]
    wait: Annotated[Spread | None, Field(description="From submission to the first machine.")]
    run: Annotated[Spread | None, Field(description="With a machine.")]
    useful_gpu_seconds: Annotated[float, Field(description="GPU time of runs that reached a verdict.")]
    paid_gpu_seconds: Annotated[float, Field(description="GPU time that was leased.")]
    efficiency: Annotated[float | None, Field(description="Useful over paid; null if nothing was paid for.")]
    gflops: Annotated[float | None, Field(description="The highest mean rate of a benchmark; null without one.")]


class JobMetrics(BaseModel):
    """The jobs that ended in a period, in groups."""

    group_by: Grouping
    since: datetime | None
    until: datetime | None
    kept_since: Annotated[datetime | None, Field(description="Jobs that ended before this time are not counted.")]
    groups: Annotated[list[JobFigures], Field(description="Ordered by paid GPU time, most first; at most 200.")]


class QueueFigures(BaseModel):
    """Jobs of one queue and GPU type that wait and run now."""

    queue: str
    gpu_type: str
    waiting_jobs: int
    running_jobs: int
    oldest_wait_seconds: Annotated[float, Field(description="0 if nothing waits.")]
    p90_wait_seconds: Annotated[float, Field(description="Nine in ten waiting jobs have waited less.")]
    stuck_jobs: Annotated[int, Field(description="Jobs that no machine can run, and for which none can be started.")]
    ended_jobs: Annotated[int, Field(description="In the last `window_seconds`.")]
    failed_jobs: Annotated[int, Field(description="Of them, those that failed through no fault of the submission.")]
    lost_attempts: int


class QueueMetrics(BaseModel):
    """Jobs that wait and run now."""

    queues: list[QueueFigures]
    window_seconds: float


@router.get("/jobs", responses=problems(404))
async def get_job_metrics(
    account: TheAccount,
    gateway: TheGateway,
    group_by: Annotated[Grouping, Query(description="How jobs are grouped.")] = Grouping.ALL,
    since: Annotated[RequestInstant | None, Query(description="Default: a day before the end.")] = None,
    until: Annotated[RequestInstant | None, Query(description="Not included. Default: now.")] = None,
    account_id: Annotated[str, Query(max_length=100, description="Default: your own; for operators all.")] = "",
) -> JobMetrics:
    """Add up the jobs that ended in a period: how many, how long they waited and ran, and how their time was used."""
    everybodys = account.oversees and not account_id
    request = metrics_pb2.GetJobMetricsRequest(
        account_ids=[] if everybodys else [account.seen_account(account_id)],
        group_by=_GROUPINGS[group_by],
        start_time=timestamp_of(since),
        end_time=timestamp_of(until),
    )
    field_names = {"start_time": "since", "end_time": "until"}
    found = await call(gateway.upstreams.metrics.GetJobMetrics, request, field_names)
    names = await _names(gateway, [one.group for one in found.groups] if group_by is Grouping.USER else [])
    return JobMetrics(
        group_by=group_by,
        since=instant_of(found.start_time),
        until=instant_of(found.end_time),
        kept_since=instant_of(found.kept_since_time),
        groups=[shown(JobFigures, one, name=names.get(one.group, one.group)) for one in found.groups],
    )


@router.get("/queues")
async def get_queue_metrics(_: TheAccount, gateway: TheGateway) -> QueueMetrics:
    """Count the jobs that wait and run now, by queue and GPU type."""
    request = metrics_pb2.GetCurrentMetricsRequest()
    found = await gateway.upstreams.metrics.GetCurrentMetrics(request, timeout=CALL_TIMEOUT_SECONDS)
    return shown(QueueMetrics, found)


async def _names(gateway: Gateway, user_ids: list[str]) -> Mapping[str, str]:
    request = ListNamesRequest(user_ids=list(filter(None, user_ids)))
    if not request.user_ids:
        return {}
    return (await gateway.upstreams.identity.ListNames(request, timeout=CALL_TIMEOUT_SECONDS)).names
