from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import grpc
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import scheduler_pb2

from tests.refused_calls import refused
from tests.services.scheduler.cluster import Cluster, kinds, scripted_cluster, with_gpus
from tests.services.scheduler.scripted_executor import compiling

ONE_SECOND_MICROS = 553


def assert_cancelled(ended: scheduler_pb2.JobEvent, cost_micros: int) -> None:
    assert ended.ended.state == scheduler_pb2.JOB_STATE_CANCELLED
    assert ended.ended.result.verdict == run_event_pb2.VERDICT_CANCELLED
    assert ended.ended.cost_micros == cost_micros


@with_gpus(0)
async def test_queued_job_is_cancelled_without_a_charge(cluster: Cluster) -> None:
    job = await cluster.submit()
    answer = await cluster.cancel(job.job_id)
    assert answer.state in {scheduler_pb2.JOB_STATE_SETTLING, scheduler_pb2.JOB_STATE_CANCELLED}
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == ["queued", "ended"]
    assert_cancelled(events[-1], 0)
    assert not cluster.billing.open_holds()
    # It does not run when a machine comes.
    await cluster.pool.tell("machine-2", "WARM")
    other = await cluster.submit("other")
    await cluster.events_to_end(other.job_id)
    assert [request.run_id for request in cluster.executor.requests] == [f"{other.job_id}-1"]


async def test_job_that_waits_for_a_machine_is_cancelled_without_a_charge(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.pool.tell("machine-1", "PROVISIONING", stage="boot")
    await cluster.start()
    job = await cluster.submit()
    await cluster.event(job.job_id, lambda event: event.HasField("provisioning"))
    await cluster.cancel(job.job_id)
    events = await cluster.events_to_end(job.job_id)
    assert_cancelled(events[-1], 0)
    assert cluster.pool.demands[0] == {"MI300X": 1}


async def test_running_job_is_cancelled_and_charged_for_the_time_that_it_ran(cluster: Cluster) -> None:
    cluster.executor.script = (compiling(), asyncio.Event())
    job = await cluster.running()
    assert (await cluster.cancel(job.job_id)).state == scheduler_pb2.JOB_STATE_RUNNING
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == ["queued", "provisioning", "compiling", "ended"]
    assert_cancelled(events[-1], ONE_SECOND_MICROS)
    assert not cluster.pool.live


async def test_cancellation_during_the_lease_but_before_the_run_ends_the_job(cluster: Cluster) -> None:
    cluster.executor.script = (compiling(), asyncio.Event())
    cluster.executor.refusals = [grpc.StatusCode.RESOURCE_EXHAUSTED] * 3
    job = await cluster.submit()
    await cluster.event(job.job_id, lambda event: event.HasField("provisioning"))
    await cluster.cancel(job.job_id)
    events = await cluster.events_to_end(job.job_id)
    assert events[-1].ended.state == scheduler_pb2.JOB_STATE_CANCELLED


async def test_executor_that_does_not_obey_is_not_waited_for(tmp_path: Path) -> None:
    async with scripted_cluster(tmp_path, cancel_grace=timedelta(milliseconds=300)) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        await cluster.start()
        cluster.executor.deaf_to_cancel = True
        cluster.executor.script = (compiling(), asyncio.Event())
        job = await cluster.running()
        await cluster.cancel(job.job_id)
        events = await cluster.events_to_end(job.job_id)
        assert_cancelled(events[-1], 0)
        assert any(release.machine_suspect for release in cluster.pool.releases)


async def test_cancelling_a_job_that_is_over_changes_nothing(cluster: Cluster) -> None:
    job = await cluster.submit()
    await cluster.events_to_end(job.job_id)
    before = await cluster.job(job.job_id)
    answer = await cluster.cancel(job.job_id)
    assert answer.state == scheduler_pb2.JOB_STATE_FINISHED
    assert await cluster.job(job.job_id) == before


async def test_job_of_another_account_cannot_be_cancelled(cluster: Cluster) -> None:
    job = await cluster.submit()
    request = scheduler_pb2.CancelJobRequest(account_ids=["account-2"], job_id=job.job_id)
    await refused(cluster.api.CancelJob(request), grpc.StatusCode.NOT_FOUND)


async def test_cancellation_survives_a_restart(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    cluster.executor.deaf_to_cancel = True
    cluster.executor.script = (compiling(), asyncio.Event())
    job = await cluster.running()
    await cluster.cancel(job.job_id)
    await cluster.stop()
    cluster.executor.deaf_to_cancel = False
    await cluster.start()
    events = await cluster.events_to_end(job.job_id)
    assert_cancelled(events[-1], ONE_SECOND_MICROS)
