"""The scheduler dies in each state; its successor carries on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import grpc
import pytest
from wavepool.scheduler.v1 import scheduler_pb2

from servicekit.clock import SystemClock
from servicekit.db.database import Database, migrate
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import JobState
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, Cluster, kinds, until
from tests.services.scheduler.jobs import ACCEPTED, LEASE, a_job
from tests.services.scheduler.scripted_executor import TOKEN

PASSED = ["queued", "provisioning", "compiling", "checking", "test_result", "test_result", "ended"]


class Rows:
    """Writes jobs as a scheduler that died would have left them."""

    def __init__(self, database: Database) -> None:
        self.store = JobStore(database, lambda events: None)
        self.reader = JobReader(database)

    async def reserving(self) -> Job:
        now = SystemClock().now()
        job = (
            await self.store.insert(a_job(create_time=now, account_id=ACCOUNT, source="source"), SubmissionLimits(20))
        ).job
        assert job is not None
        return job

    async def queued(self) -> Job:
        job = await self.reserving()
        return await self.move(job, job.enqueue("hold-of-job:job-001"), b"")

    async def running(self, executor_endpoint: str = LEASE.executor_endpoint) -> Job:
        job = await self.queued()
        lease = replace(LEASE, executor_token=TOKEN, executor_endpoint=executor_endpoint)
        return await self.move(job, job.start(lease, SystemClock().now()))

    async def settling(self) -> Job:
        job = await self.running()
        return await self.move(job, job.settle(ACCEPTED))

    async def move(self, job: Job, after: Job, *payloads: bytes) -> Job:
        return await self.store.move(job, after, payloads, SystemClock().now())


@pytest.fixture
async def rows(stopped_cluster: Cluster) -> AsyncIterator[Rows]:
    database = Database(stopped_cluster.settings.resolved_database_url("scheduler"))
    await migrate(database, MIGRATIONS)
    yield Rows(database)
    await database.close()


async def test_queued_job_runs_after_a_restart(stopped_cluster: Cluster, rows: Rows) -> None:
    job = await rows.queued()
    await stopped_cluster.start()
    assert kinds(await stopped_cluster.events_to_end(job.job_id, 1)) == PASSED[1:]


async def test_provisioning_job_runs_after_a_restart(stopped_cluster: Cluster, rows: Rows) -> None:
    job = await rows.queued()
    await rows.move(job, job.provision())
    await stopped_cluster.start()
    assert kinds(await stopped_cluster.events_to_end(job.job_id, 1))[-1] == "ended"


async def test_job_whose_run_was_never_asked_for_runs_under_the_lease_that_it_has(
    stopped_cluster: Cluster, rows: Rows
) -> None:
    cluster = stopped_cluster
    cluster.pool.live.add(LEASE.lease_id)
    job = await rows.running(cluster.pool.executor_endpoint)
    await cluster.start()
    events = await cluster.events_to_end(job.job_id, 1)
    assert kinds(events) == PASSED[2:]
    assert events[-1].attempt == 1
    assert not cluster.pool.leases, "no second lease was taken"


async def test_job_whose_lease_ended_meanwhile_is_tried_again(stopped_cluster: Cluster, rows: Rows) -> None:
    cluster = stopped_cluster
    job = await rows.running(cluster.pool.executor_endpoint)
    await cluster.start()
    events = await cluster.events_to_end(job.job_id, 1)
    assert kinds(events) == ["retrying", *PASSED[1:]]
    assert "lease is gone" in events[0].retrying.reason
    # Somebody else may have the machine by now.
    assert [request.run_id for request in cluster.executor.requests] == [f"{job.job_id}-2"]


async def test_run_in_flight_is_attached_to_and_its_log_has_no_seam(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    await cluster.start()
    gate = cluster.gate()
    job = await cluster.running()
    await cluster.stop()
    gate.set()
    await cluster.start()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == PASSED
    assert [event.seq for event in events] == list(range(1, 8))
    assert events[-1].attempt == 1
    assert [request.after_seq for request in cluster.executor.requests] == [0, 1]
    assert cluster.billing.settle_calls == 1


async def test_settling_job_is_charged_and_ended_after_a_restart(stopped_cluster: Cluster, rows: Rows) -> None:
    job = await rows.settling()
    await stopped_cluster.start()
    events = await stopped_cluster.events_to_end(job.job_id, 1)
    assert kinds(events) == ["ended"]
    assert events[0].ended.cost_micros == ACCEPTED.cost_micros
    [settlement] = stopped_cluster.billing.settled.values()
    assert settlement.amount_micros == ACCEPTED.cost_micros
    assert [release.lease_id for release in stopped_cluster.pool.releases] == [LEASE.lease_id]


async def test_settlement_whose_answer_was_lost_is_repeated_and_charged_once(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.billing.lost_answers = {"SettleCharge"}
    await cluster.start()
    job = await cluster.submit()
    await until(lambda: cluster.billing.settle_calls >= 2)
    assert (await cluster.job(job.job_id)).state == scheduler_pb2.JOB_STATE_SETTLING
    await cluster.stop()
    cluster.billing.lost_answers = set()
    await cluster.start()
    events = await cluster.events_to_end(job.job_id)
    assert kinds(events) == PASSED
    assert len(cluster.billing.settled) == 1


async def test_submission_that_died_before_its_hold_is_forgotten(stopped_cluster: Cluster, rows: Rows) -> None:
    cluster = stopped_cluster
    cluster.settings.submission_timeout *= 0
    cluster.billing.refusals = {"ReserveCredit": grpc.StatusCode.FAILED_PRECONDITION}
    await rows.reserving()
    await cluster.start()
    await gone(rows)
    assert not cluster.billing.open_holds()


async def test_submission_that_died_after_its_hold_gives_the_credit_back(stopped_cluster: Cluster, rows: Rows) -> None:
    cluster = stopped_cluster
    cluster.settings.submission_timeout *= 0
    await rows.reserving()
    await cluster.start()
    await gone(rows)
    assert list(cluster.billing.holds) == ["hold-of-job:job-001"]
    assert [settlement.amount_micros for settlement in cluster.billing.settled.values()] == [0]


async def test_dead_submission_waits_for_billing_to_come_back(stopped_cluster: Cluster, rows: Rows) -> None:
    cluster = stopped_cluster
    cluster.settings.submission_timeout *= 0
    cluster.billing.refusals = {"SettleCharge": grpc.StatusCode.INTERNAL}
    job = await rows.reserving()
    await cluster.start()
    await until(lambda: bool(cluster.billing.holds))
    row = await rows.store.get(job.job_id)
    assert row is not None
    cluster.billing.refusals = {}
    await gone(rows)
    assert not cluster.billing.open_holds()


async def test_callers_next_try_goes_on_with_a_submission_that_died(stopped_cluster: Cluster) -> None:
    cluster = stopped_cluster
    cluster.billing.lost_answers = {"ReserveCredit"}
    await cluster.start()
    await refused(cluster.submit("key-1"), grpc.StatusCode.UNAVAILABLE)
    await cluster.stop()
    cluster.billing.lost_answers = set()
    await cluster.start()
    job = await cluster.submit("key-1")
    await cluster.events_to_end(job.job_id)
    assert len(cluster.billing.holds) == 1, "the second try used the first one's hold"
    assert not cluster.billing.open_holds()


async def gone(rows: Rows) -> None:
    async with asyncio.timeout(60):
        while await rows.reader.last_seqs(["job-001"]):
            await asyncio.sleep(0.01)
    assert await rows.store.ids_in_states(set(JobState)) == {}
