"""Several schedulers on one database: one leads, and the others answer from the rows."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

import grpc
import orjson
import pytest
from sqlalchemy import text, update
from wavepool.scheduler.v1 import queues_pb2, queues_pb2_grpc, reservations_pb2, scheduler_pb2, scheduler_pb2_grpc

from servicekit.db.database import Database, migrate
from servicekit.db.leader_lease import LeaderLease, LeadershipLostError, leader_leases
from services.scheduler.runs.watcher import NotifiedEvents
from services.scheduler.server import MIGRATIONS
from tests.job_specs import sound_spec
from tests.refused_calls import refused
from tests.service_token import AllowedCaller
from tests.services.scheduler.cluster import (
    ACCOUNT,
    USER,
    Cluster,
    LaterClock,
    is_run,
    kinds,
    scripted_cluster,
    until,
)
from tests.services.scheduler.scripted_executor import PASSING, compiling

PASSED = ["queued", "provisioning", "compiling", "checking", "test_result", "test_result", "ended"]
HOUR = timedelta(hours=1)
ON_POSTGRES = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
END_LISTENER = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"
)


@pytest.fixture
async def first(tmp_path: Path, database_url: str) -> AsyncIterator[Cluster]:
    """The first scheduler of the database, which has not started yet, and one warm machine."""
    async with scripted_cluster(tmp_path, database_url=database_url) as cluster:
        await cluster.pool.tell("machine-1", "WARM")
        yield cluster


@asynccontextmanager
async def another(first: Cluster, **settings: Any) -> AsyncGenerator[Cluster]:
    """Another scheduler on the same database, with the same neighbours."""
    changed = first.settings.model_copy(update=settings)
    cluster = Cluster(changed, first.pool, first.billing, first.executor, first.sessions, first.clock)
    await cluster.start()
    try:
        yield cluster
    finally:
        await cluster.stop()


async def test_a_follower_passes_writes_on_to_the_leader_and_reads_by_itself(first: Cluster) -> None:
    await first.start()
    first.executor.script = (compiling(), asyncio.Event())
    async with another(first) as follower:
        job = await follower.submit()
        assert (await follower.submit()).job_id == job.job_id
        await follower.event(job.job_id, is_run("compiling"))
        assert (await follower.job(job.job_id)).state == scheduler_pb2.JOB_STATE_RUNNING
        await follower.cancel(job.job_id)
        events = await follower.events_to_end(job.job_id)
        assert events[-1].ended.state == scheduler_pb2.JOB_STATE_CANCELLED
        assert first.scheduler is not None
        assert follower.scheduler is not None
        assert (first.scheduler.lease.leads, follower.scheduler.lease.leads) == (True, False)


async def test_a_follower_passes_each_method_on_that_writes(first: Cluster) -> None:
    await first.start()
    async with another(first) as follower:
        queues: Any = queues_pb2_grpc.QueueServiceStub(follower.channel)
        begin = queues_pb2.SetMaintenanceRequest(gpu_type="MI300X", reason="New firmware", user_id="usr_1")
        assert await queues.SetMaintenance(begin) == queues_pb2.SetMaintenanceResponse()


async def test_the_leaders_refusal_comes_back_with_its_details(first: Cluster) -> None:
    await first.start()
    async with another(first) as follower:
        await refused(follower.submit(priority=1000), grpc.StatusCode.INVALID_ARGUMENT, field="spec.priority")


async def test_without_a_leader_a_write_answers_when_to_try_again_and_nothing_is_lost(first: Cluster) -> None:
    await first.start()
    async with another(first) as follower:
        assert follower.scheduler is not None
        assert first.scheduler is not None
        # The leader is there, but does not answer.
        await first.scheduler.server.grpc.stop(0)
        failure = await refused(follower.submit(), grpc.StatusCode.UNAVAILABLE)
        assert failure.retry_after == timedelta(seconds=1)
        assert failure.message.startswith("No scheduler can do this now: the leader does not answer.")
        await first.stop()
        await until(lambda: follower.scheduler is not None and follower.scheduler.lease.leads)
        assert kinds(await follower.events_to_end((await follower.submit()).job_id)) == PASSED


async def test_a_call_that_was_passed_on_is_not_passed_on_again(first: Cluster) -> None:
    await first.start()
    async with another(first) as follower:
        assert follower.scheduler is not None
        address = f"127.0.0.1:{follower.scheduler.server.port}"
        async with AllowedCaller(address, first.settings.service_token()) as caller:
            as_scheduler = scheduler_pb2_grpc.SchedulerServiceStub(caller._channels["scheduler"])
            cancelled = as_scheduler.CancelJob(scheduler_pb2.CancelJobRequest(job_id="job"), timeout=30)
            await refused(cancelled, "none leads at the moment")


async def test_a_call_that_comes_before_the_process_knows_who_leads_waits_until_it_does(first: Cluster) -> None:
    await first.start(loops=False, leads=False)
    assert first.scheduler is not None
    lease, arrived = first.scheduler.lease, asyncio.Event()
    known = lease.known

    async def noted() -> None:
        arrived.set()
        await known()

    lease.known = noted
    submitting = asyncio.create_task(first.submit())
    await asyncio.wait_for(arrived.wait(), 60)
    assert await lease.try_take()
    assert (await submitting).state == scheduler_pb2.JOB_STATE_QUEUED


async def test_a_leader_that_stops_hands_its_runs_over_at_once(first: Cluster) -> None:
    gate = asyncio.Event()
    first.executor.script = (compiling(), gate, *PASSING[1:])
    first.settings.leader_term = timedelta(days=1)
    await first.start()
    async with another(first) as follower:
        job = await follower.submit()
        watching = asyncio.create_task(follower.events_to_end(job.job_id))
        await follower.event(job.job_id, is_run("compiling"))
        await first.stop()
        gate.set()
        events = await watching
    assert kinds(events) == PASSED
    assert [event.seq for event in events] == list(range(1, 8))
    assert {event.attempt for event in events[2:]} == {1}
    assert first.billing.settle_calls == 1


async def test_changes_of_jobs_are_followed_at_any_scheduler_and_go_on_with_the_next_leader(first: Cluster) -> None:
    gate = asyncio.Event()
    first.executor.script = (compiling(), gate, *PASSING[1:])
    await first.start()
    async with another(first) as follower:
        request = scheduler_pb2.WatchJobsRequest(account_id=ACCOUNT, after_revision=0)
        changes = aiter(follower.api.WatchJobs(request, timeout=60))
        job = await follower.submit()
        seen = [await anext(changes)]
        while seen[-1].job.state != scheduler_pb2.JOB_STATE_RUNNING:
            seen.append(await anext(changes))
        await first.stop()
        gate.set()
        while seen[-1].job.state != scheduler_pb2.JOB_STATE_FINISHED:
            seen.append(await anext(changes))
        last = await follower.job(job.job_id)
    revisions = [change.revision for change in seen]
    assert revisions == sorted(set(revisions))
    assert (seen[-1].job.verdict, seen[-1].job.cost_micros) == (last.verdict, last.cost_micros)


async def test_a_reservation_that_starts_later_is_kept_by_the_next_leader_and_starts_once(first: Cluster) -> None:
    first.clock = first.sessions.clock = clock = LaterClock()
    await first.start()
    async with another(first) as follower:
        start = clock.now().replace(microsecond=0) + HOUR
        soon_start = start - HOUR / 2
        made = await follower.reserve("later", start_time=start)
        soon = await follower.reserve("soon", start_time=soon_start, duration={"seconds": 600})
        assert made.state == soon.state == reservations_pb2.RESERVATION_STATE_PENDING
        await first.stop()
        assert follower.scheduler
        dated = follower.scheduler.dated
        await until(lambda: dated.is_loaded)
        await refused(follower.reserve("overlap", start_time=start + timedelta(minutes=5)), "nearest start")
        clock.later = HOUR / 2
        await follower.reservation_events(soon.reservation_id, "active")
        assert (await follower.reservation(soon.reservation_id)).active_time.ToDatetime(UTC) >= soon_start
        assert len(follower.pool.granted) == 1


@ON_POSTGRES
async def test_a_follower_gets_the_leaders_events_at_once_without_polling(first: Cluster) -> None:
    gate = asyncio.Event()
    first.executor.script = (compiling(), gate, *PASSING[1:])
    await first.start()
    async with another(first, poll_interval=HOUR) as follower:
        await listener_of(follower).listens.wait()
        job = await follower.submit()
        watching = asyncio.create_task(follower.events_to_end(job.job_id))
        await follower.event(job.job_id, is_run("compiling"))
        gate.set()
        events = await watching
    assert kinds(events) == PASSED
    assert [event.seq for event in events] == list(range(1, 8))


@ON_POSTGRES
async def test_a_follower_whose_connection_broke_listens_again_and_has_missed_nothing(first: Cluster) -> None:
    gates = asyncio.Event(), asyncio.Event()
    first.executor.script = (compiling(), gates[0], *PASSING[1:3], gates[1], *PASSING[3:])
    await first.start()
    async with another(first, poll_interval=HOUR) as follower:
        job = await follower.submit()
        watching = asyncio.create_task(follower.events_to_end(job.job_id))
        await follower.event(job.job_id, is_run("compiling"))
        assert follower.database is not None
        assert first.database is not None
        async with first.database.unfenced() as connection:
            assert True in (await connection.execute(END_LISTENER)).scalars().all()
        gates[0].set()
        await follower.event(job.job_id, is_run("test_result"))
        gates[1].set()
        events = await watching
    assert kinds(events) == PASSED
    assert [event.seq for event in events] == list(range(1, 8))


def listener_of(cluster: Cluster) -> NotifiedEvents:
    assert cluster.scheduler is not None
    return next(loop for loop, _ in cluster.scheduler.listening if isinstance(loop, NotifiedEvents))


@asynccontextmanager
async def deposed(first: Cluster) -> AsyncGenerator[tuple[Cluster, str]]:
    """The successor of `first`, which does not know yet, and the job that both run; its run goes on when they leave."""
    gate = asyncio.Event()
    first.executor.script = (compiling(), gate, *PASSING[1:])
    first.settings.leader_term = timedelta(days=1)
    await first.start()
    job_id = (await first.submit()).job_id
    await first.event(job_id, is_run("compiling"))
    async with another(first) as successor:
        assert first.database is not None
        async with first.database.unfenced() as connection:
            await connection.execute(update(leader_leases).values(expire_time=0))
        await until(lambda: len(first.executor.requests) == 2)
        yield successor, job_id
        gate.set()
        events = await successor.events_to_end(job_id)
    assert (kinds(events), {event.attempt for event in events[2:]}) == (PASSED, {1})
    assert first.executor.cancels == []
    assert [release.machine_suspect for release in first.pool.releases] == [False]


@ON_POSTGRES
async def test_a_deposed_leader_drops_its_runs_as_they_are_when_it_notices(first: Cluster) -> None:
    async with deposed(first) as (_, job_id):
        assert first.scheduler is not None
        assert first.scheduler.runner.has(job_id)
        # A submission is the write by which it notices: its term is a day.
        assert (await refused(first.submit("another key"))).retry_after == timedelta(seconds=1)
        with pytest.raises(LeadershipLostError):
            await asyncio.wait_for(first.background[0], 60)
        assert not first.scheduler.runner.has(job_id)


@ON_POSTGRES
async def test_a_deposed_leader_whose_stream_broke_leaves_the_run_to_its_successor(first: Cluster) -> None:
    async with deposed(first):
        assert first.scheduler is not None
        first.scheduler.runner.machine_gone("machine-1", "as it seems", stopped=False)
        with pytest.raises(LeadershipLostError):
            await asyncio.wait_for(first.background[0], 60)


class SchedulerProcess:
    """A scheduler as in production; `lines` are those of its log so far."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []
        self._grown = asyncio.Event()
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._grown.set())

    async def _read(self) -> None:
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            self.lines.append(orjson.loads(line) if line.startswith(b"{") else {"message": line.decode()})
            self._grown.set()

    async def said(self, message: str) -> dict[str, Any]:
        try:
            async with asyncio.timeout(60):
                while True:
                    self._grown.clear()
                    for line in self.lines:
                        if message in str(line["message"]):
                            return line
                    assert not self._reading.done(), "the process has ended"
                    await self._grown.wait()
        except (TimeoutError, AssertionError) as error:
            raise AssertionError(f"it did not say {message!r}: {error!r}; it said {self.lines}") from error

    async def end(self) -> int:
        async with asyncio.timeout(60):
            await self._reading
            return await self.process.wait()


@asynccontextmanager
async def scheduler_process(neighbours: Cluster) -> AsyncGenerator[SchedulerProcess]:
    settings = neighbours.settings
    environment = os.environ | {
        "SCHEDULER_PORT": "0",
        "SCHEDULER_DATA_DIR": str(settings.data_dir),
        "SCHEDULER_DATABASE_URL": str(settings.database_url),
        "SCHEDULER_VMPOOL_TARGET": settings.vmpool_target,
        "SCHEDULER_BILLING_TARGET": settings.billing_target,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.scheduler"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    scheduler = SchedulerProcess(process)
    try:
        yield scheduler
    finally:
        if process.returncode is None:
            process.kill()
        await scheduler.end()


@asynccontextmanager
async def api_of(scheduler: SchedulerProcess, neighbours: Cluster) -> AsyncGenerator[Any]:
    port = (await scheduler.said("serving"))["port"]
    async with AllowedCaller(f"127.0.0.1:{port}", neighbours.settings.service_token()) as channel:
        yield scheduler_pb2_grpc.SchedulerServiceStub(channel)


async def submitted(api: Any) -> str:
    request = scheduler_pb2.SubmitJobRequest(account_id=ACCOUNT, user_id=USER, spec=sound_spec(), idempotency_key="key")
    return (await api.SubmitJob(request, timeout=60)).job.job_id


async def watched(api: Any, job_id: str) -> list[scheduler_pb2.JobEvent]:
    request = scheduler_pb2.WatchJobRequest(account_id=ACCOUNT, job_id=job_id)
    return [answer.event async for answer in api.WatchJob(request, timeout=60)]


@ON_POSTGRES
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
async def test_when_the_leader_ends_or_freezes_another_process_leads(
    first: Cluster, signal_number: signal.Signals
) -> None:
    gate = asyncio.Event()
    first.executor.script = (compiling(), gate, *PASSING[1:])
    async with scheduler_process(first) as leader:
        await leader.said("this process leads")
        async with scheduler_process(first) as follower, api_of(follower, first) as api:
            job_id = await submitted(api)
            watching = asyncio.create_task(watched(api, job_id))
            await until(lambda: bool(first.executor.requests))
            leader.process.send_signal(signal_number)
            assert (await follower.said("this process leads"))["epoch"] == 2
            await until(lambda: len(first.executor.requests) >= 2)
            if signal_number is signal.SIGSTOP:
                leader.process.send_signal(signal.SIGCONT)
                await leader.said("another process has taken over: this one writes nothing more")
                assert await leader.end() == 1
                assert leader.lines[-1]["message"].startswith("scheduler: another scheduler has taken over")
            gate.set()
            events = await watching
    assert kinds(events) == PASSED
    assert [event.seq for event in events] == list(range(1, 8))
    assert {event.attempt for event in events[2:]} == {1}
    assert (first.executor.cancels, first.billing.settle_calls) == ([], 1)


async def test_a_single_process_leads_from_its_first_call_on_and_again_right_after_sigkill(first: Cluster) -> None:
    if not str(first.settings.database_url).startswith("sqlite"):
        return
    for epoch in (1, 2):
        async with scheduler_process(first) as scheduler, api_of(scheduler, first) as api:
            await submitted(api)
            assert (await scheduler.said("this process leads"))["epoch"] == epoch


async def test_what_leads_writes_and_what_does_not_writes_nothing(first: Cluster) -> None:
    """The fence is in the database object that every store uses."""
    await first.start(loops=False)
    database = Database(first.settings.resolved_database_url("scheduler"))
    await migrate(database, MIGRATIONS)
    lease = LeaderLease(database, "scheduler", HOUR)
    assert not await lease.try_take()
    with pytest.raises(LeadershipLostError):
        async with database.transaction():
            pass
    await lease.release()
    await database.close()
