"""Which machines a job may run on: any, those that there are, or one that is started for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, scheduler_pb2
from wavepool.scheduler.v1.queues_pb2 import ExplainJobRequest
from wavepool.scheduler.v1.scheduler_pb2 import (
    MACHINE_REUSE_CREATE,
    MACHINE_REUSE_REUSE,
    MACHINE_REUSE_REUSE_OR_CREATE,
    MachineUse,
)

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.resources import Reuse
from services.scheduler.jobs.spec import WorkKind
from services.scheduler.peers.pool import PoolLimits
from services.scheduler.queue import demand
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.waiting import WaitingJobs
from tests.refused_calls import refused
from tests.services.scheduler.cluster import Cluster, is_run, until, with_gpus
from tests.services.scheduler.jobs import START, a_queued_job
from tests.services.scheduler.queue_bench import QueueBench, machine
from tests.services.scheduler.scripted_executor import PASSING, compiling


async def submitted(cluster: Cluster, reuse: Any, key: str = "key", **changes: Any) -> scheduler_pb2.Job:
    return await cluster.submit(key, machine=MachineUse(reuse=reuse), **changes)


async def why(cluster: Cluster, job: scheduler_pb2.Job) -> queues_pb2.ExplainJobResponse:
    stub = queues_pb2_grpc.QueueServiceStub(cluster.channel)
    return await stub.ExplainJob(ExplainJobRequest(job_id=job.job_id))


async def ran_on(cluster: Cluster, job: scheduler_pb2.Job) -> str:
    await cluster.events_to_end(job.job_id)
    return (await cluster.job(job.job_id)).machine_id


@with_gpus(0)
async def test_a_job_that_asks_for_no_machine_waits_for_one_that_others_started(cluster: Cluster) -> None:
    job = await submitted(cluster, MACHINE_REUSE_REUSE)
    alone = await why(cluster, job)
    other = await cluster.submit("other", gpu_type="MI210")
    await until(lambda: any(cluster.pool.demands))

    assert [report for report in cluster.pool.demands if report] == [{"MI210": 1}] * len(cluster.pool.demands)
    assert alone.reason == "There is no machine with MI300X, and it asks for none (`reuse`)."
    assert "started for others" in alone.remedy
    await cluster.pool.tell("machine-2", "STARTING")
    await cluster.event(job.job_id, lambda event: event.provisioning.machine.machine_id == "machine-2")
    await cluster.pool.tell("machine-2", "WARM")
    assert await ran_on(cluster, job) == "machine-2"
    assert (await cluster.job(other.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    assert not any("MI300X" in report for report in cluster.pool.demands)


async def test_a_job_that_wants_a_new_machine_leaves_a_free_one_and_gets_its_own_alone(cluster: Cluster) -> None:
    gate = asyncio.Event()
    job = await submitted(cluster, MACHINE_REUSE_CREATE)
    await until(lambda: cluster.pool.own_demands[-1:] == [[job.job_id]])
    waits = await why(cluster, job)
    assert waits.reason == "It needs a new machine of its own with MI300X (`create`)."
    assert [one.reason for one in waits.machines] == ["it was not started for this job"]
    assert not any(cluster.pool.demands)

    await cluster.pool.tell("machine-2", "STARTING", own_job_id=job.job_id)
    await cluster.event(job.job_id, lambda event: event.provisioning.machine.machine_id == "machine-2")
    assert "is being started" in (await why(cluster, job)).reason
    cluster.executor.script = (compiling(), gate, *PASSING[1:])
    first = await cluster.running("first")
    second = await cluster.submit("second")
    refused = {one.machine_id: one.reason for one in (await why(cluster, second)).machines}
    assert refused["machine-2"] == "it was started for another job"
    await cluster.pool.tell("machine-2", "WARM", own_job_id=job.job_id)
    await cluster.event(job.job_id, is_run("compiling"))
    assert (await cluster.job(second.job_id)).state != scheduler_pb2.JOB_STATE_RUNNING
    gate.set()

    assert [await ran_on(cluster, one) for one in (job, first)] == ["machine-2", "machine-1"]
    await cluster.events_to_end(second.job_id)


async def test_a_machine_whose_job_waits_no_longer_or_that_was_used_is_for_everybody(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    job = await submitted(cluster, MACHINE_REUSE_CREATE)
    await cluster.pool.swap("machine-2", own_job_id=job.job_id, jobs_run=1)
    await cluster.pool.tell("machine-3", "STARTING", own_job_id=job.job_id)
    other = await cluster.submit("other")
    assert await ran_on(cluster, other) == "machine-2"
    await cluster.pool.tell("machine-2", "STOPPED")
    cluster.pool.blocked_by_gpu_type = {"MI300X": "no provider has one"}
    third = await cluster.submit("third")
    await cluster.event(third.job_id, lambda event: "no provider has one" in event.queued.message)
    assert (await why(cluster, third)).reason == "There is no machine with MI300X."
    await cluster.cancel(job.job_id)
    await cluster.pool.tell("machine-3", "WARM", own_job_id=job.job_id)
    another = await cluster.submit("another")
    assert await ran_on(cluster, another) == "machine-3"


async def test_a_job_whose_new_machine_cannot_be_started_hears_why(cluster: Cluster) -> None:
    cluster.pool.blocked_reason = "the limit of 1 machines is reached"
    job = await submitted(cluster, MACHINE_REUSE_CREATE)
    event = await cluster.event(job.job_id, lambda event: "limit" in event.queued.message)
    assert event.queued.message == "Waiting for a machine: the limit of 1 machines is reached"
    assert (await why(cluster, job)).remedy == "the limit of 1 machines is reached"


async def test_the_wish_outlives_the_process_and_is_part_of_the_submission(cluster: Cluster) -> None:
    job = await submitted(cluster, MACHINE_REUSE_CREATE)
    await cluster.stop()
    cluster.pool.own_demands.clear()
    await cluster.start()
    await until(lambda: [job.job_id] in cluster.pool.own_demands)
    assert (await cluster.job(job.job_id)).spec.machine.reuse == MACHINE_REUSE_CREATE
    assert (await submitted(cluster, MACHINE_REUSE_CREATE)).job_id == job.job_id
    await refused(submitted(cluster, MACHINE_REUSE_REUSE), grpc.StatusCode.ALREADY_EXISTS)
    plain = await cluster.submit("plain")
    assert (await submitted(cluster, MACHINE_REUSE_REUSE_OR_CREATE, "plain")).job_id == plain.job_id


def waiting(*jobs: Job) -> WaitingJobs:
    found = WaitingJobs(ranked_by(Age(timedelta(seconds=9))))
    for job in jobs:
        found.put(job)
    return found


def with_reuse(number: int, reuse: Reuse) -> Job:
    job = a_queued_job(number)
    return replace(job, spec=replace(job.spec, reuse=reuse))


class Reports:
    """A pool that hears what is asked for."""

    kinds: Sequence[WorkKind] = ()

    async def report_demand(self, jobs_by_kind: dict[WorkKind, int]) -> dict[Any, str]:
        self.kinds = list(jobs_by_kind)
        return {}


async def test_no_machine_is_asked_for_if_it_would_go_to_a_reservation_before_the_work_had_ended() -> None:
    bench, pool, soon = QueueBench(machine(1)), Reports(), START + timedelta(minutes=20)
    bench.dated.limits = PoolLimits(machines=2)
    for number in (1, 2):
        later = Reservation("later", (), timedelta(hours=1), start_time=soon)
        bench.dated.put(replace(a_queued_job(number), reservation=later))
    reporter = DemandReporter(pool, bench.waiting, bench.inventory, bench.dated.has_time)  # pyright: ignore[reportArgumentType] - three lines of it
    for minutes, is_asked in ((30, False), (9, True)):
        job = a_queued_job(minutes)
        bench.waiting.put(replace(job, spec=replace(job.spec, time_limit_seconds=minutes * 60)))
        await reporter.report()
        assert bool(pool.kinds) == is_asked
        said = [reporter.blocked(lane) for lane in bench.waiting.lanes()]
        assert said == ["" if is_asked else "what is kept for reservations that start later leaves no time on it"]


async def test_only_so_many_new_machines_are_asked_for_at_a_time_those_of_the_oldest_jobs() -> None:
    jobs = [with_reuse(number, Reuse.CREATE) for number in range(demand.MOST_OWN_MACHINES + 5)]
    pool = Reports()
    await DemandReporter(pool, waiting(*jobs[::-1], with_reuse(900, Reuse.REUSE)), Inventory()).report()  # pyright: ignore[reportArgumentType] - three lines of it
    assert {kind.own_job_id for kind in pool.kinds} == {job.job_id for job in jobs[: demand.MOST_OWN_MACHINES]}


@pytest.mark.parametrize("seconds", [None, 0, 60])
async def test_the_idle_time_goes_to_the_pool_with_the_lease_and_is_part_of_the_submission(
    cluster: Cluster, seconds: int | None
) -> None:
    use = MachineUse() if seconds is None else MachineUse(idle_time=Duration(seconds=seconds))
    job = await cluster.submit("job", machine=use)
    await cluster.events_to_end(job.job_id)
    [request] = cluster.pool.granted
    assert (request.idle_time.seconds if request.HasField("idle_time") else None) == seconds
    shown = (await cluster.job(job.job_id)).spec.machine
    assert (shown.idle_time.seconds if shown.HasField("idle_time") else None) == seconds
    assert (await cluster.submit("job", machine=use)).job_id == job.job_id
    await refused(
        cluster.submit("job", machine=MachineUse(idle_time=Duration(seconds=7))), grpc.StatusCode.ALREADY_EXISTS
    )
