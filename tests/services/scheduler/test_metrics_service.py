from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1.alerts_pb2 import ReportReadingsRequest
from wavepool.scheduler.v1 import metrics_pb2 as pb
from wavepool.scheduler.v1 import scheduler_pb2
from wavepool.scheduler.v1.metrics_pb2_grpc import MetricsServiceStub

from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, TIMEOUT_SECONDS, USER, Cluster, until
from tests.services.scheduler.scripted_executor import compiling, finished
from vocabulary import readings

if TYPE_CHECKING:
    from wavepool.scheduler.v1.metrics_pb2_grpc import MetricsServiceAsyncStub


def metrics(cluster: Cluster) -> MetricsServiceAsyncStub:
    assert cluster.channel
    return MetricsServiceStub(cluster.channel)


def values(report: ReportReadingsRequest, name: str) -> list[float]:
    return [one.value for one in report.readings if one.name == name]


async def test_a_job_that_ran_is_in_the_figures_of_its_account_and_of_no_other(cluster: Cluster) -> None:
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    request = pb.GetJobMetricsRequest(account_ids=[ACCOUNT], group_by=pb.JOB_GROUPING_USER)
    [found] = (await metrics(cluster).GetJobMetrics(request, timeout=TIMEOUT_SECONDS)).groups
    assert (found.group, found.jobs, found.succeeded, found.failed) == (USER, 1, 1, 0)
    assert 0 < found.useful_gpu_seconds <= found.paid_gpu_seconds
    assert found.efficiency == pytest.approx(found.useful_gpu_seconds / found.paid_gpu_seconds)
    assert found.wait.p50_seconds == found.wait.p90_seconds >= 0
    assert found.run.p90_seconds > 0
    others = await metrics(cluster).GetJobMetrics(pb.GetJobMetricsRequest(account_ids=["account-2"]))
    assert not others.groups
    assert others.end_time.ToDatetime() - others.start_time.ToDatetime() == timedelta(days=1)
    assert others.end_time.ToDatetime() - others.kept_since_time.ToDatetime() == timedelta(days=30)


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (pb.GetJobMetricsRequest(group_by=99), "group_by"),  # pyright: ignore[reportArgumentType]
        (pb.GetJobMetricsRequest(start_time=Timestamp(seconds=9), end_time=Timestamp(seconds=8)), "start_time"),
        (pb.GetJobMetricsRequest(end_time=Timestamp(seconds=10**15)), "end_time"),
        (pb.GetJobMetricsRequest(start_time=Timestamp(seconds=1, nanos=-5)), "start_time"),
    ],
)
async def test_a_period_or_grouping_that_cannot_be_is_refused(
    cluster: Cluster, request_: pb.GetJobMetricsRequest, field: str
) -> None:
    await refused(metrics(cluster).GetJobMetrics(request_), grpc.StatusCode.INVALID_ARGUMENT, field=field)


async def test_what_waits_is_told_at_once_with_why_nothing_starts(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.pool.blocked_by_gpu_type = {"MI210": "no machine can be had"}
    await cluster.start()
    stuck = await cluster.submit("stuck", gpu_type="MI210")
    await cluster.event(stuck.job_id, lambda event: "no machine can be had" in event.queued.message)
    cluster.executor.script = [compiling(), asyncio.Event(), finished()]
    await cluster.running("runs")
    answer = await metrics(cluster).GetCurrentMetrics(pb.GetCurrentMetricsRequest())
    shown = {one.gpu_type: (one.waiting_jobs, one.stuck_jobs, one.running_jobs) for one in answer.queues}
    assert shown == {"MI210": (1, 1, 0), "MI300X": (0, 0, 1)}
    assert 0 < max(one.oldest_wait_seconds for one in answer.queues) < TIMEOUT_SECONDS
    assert answer.window_seconds == 900


async def test_what_chose_to_wait_for_the_operator_alarms_nobody_and_is_first_in_no_line(
    stopped_cluster: Cluster,
) -> None:
    cluster = stopped_cluster
    cluster.pool.max_machines = 1
    await cluster.start()
    await cluster.events_to_end((await cluster.submit("first")).job_id)
    assert cluster.scheduler
    waiting = cluster.scheduler.waiting
    by_choice = scheduler_pb2.MachineUse(wait_for_operator=True)
    for asked in (scheduler_pb2.Resources(gpus=4), scheduler_pb2.Resources(fraction=0.5)):
        await cluster.submit(str(asked), resources=asked, machine=by_choice)
    await until(lambda: len(waiting.hopeless) == 2)
    cluster.executor.script = [compiling(), asyncio.Event(), finished()]
    await cluster.running("runs")
    cluster.pool.refusal = grpc.StatusCode.RESOURCE_EXHAUSTED
    behind = await cluster.submit("waits for its turn")
    answer = await metrics(cluster).GetCurrentMetrics(pb.GetCurrentMetricsRequest())
    assert [(one.waiting_jobs, one.stuck_jobs) for one in answer.queues] == [(1, 0)]
    head = waiting.head("MI300X")
    assert head
    assert head.spec.resources.is_plain
    assert head.spec.resources.gpus == 1
    await until(lambda: sum(cluster.pool.demands[-1].values()) == 1)
    await until(lambda: bool(cluster.pool.refused_jobs))
    assert cluster.pool.refused_jobs == {behind.job_id}, "the pool takes what it refuses for demand"


async def test_readings_reach_billing_and_one_that_does_not_answer_is_tried_again(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.settings = cluster.settings.model_copy(update={"metrics_interval": timedelta(milliseconds=20)})
    cluster.billing.refusals["ReportReadings"] = grpc.StatusCode.UNAVAILABLE
    await cluster.start()
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    assert not cluster.billing.reports
    del cluster.billing.refusals["ReportReadings"]
    reports = cluster.billing.reports
    await until(lambda: bool(reports and values(reports[-1], readings.FAILED_JOBS)))
    last = reports[-1]
    assert (last.source, last.valid_for.ToTimedelta()) == ("scheduler", timedelta(milliseconds=60))
    assert values(last, readings.FAILED_JOBS) == [0.0]
    assert values(last, readings.OLDEST_WAIT) == [0.0]
