"""Deadlines: what cannot end in time is refused, or cancelled by the platform without a charge."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1 import run_event_pb2
from wavepool.scheduler.v1 import queues_pb2_grpc, scheduler_pb2
from wavepool.scheduler.v1.queues_pb2 import ExplainJobRequest

from servicekit.clock import ManualClock
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import deadline_missed
from services.scheduler.jobs.retries import ending_after_loss
from services.scheduler.jobs.states import JobState
from services.scheduler.jobs.submission_checks import wrong_deadline
from tests.refused_calls import refused
from tests.services.scheduler.cluster import Cluster, is_run, kinds
from tests.services.scheduler.jobs import START, a_job
from tests.services.scheduler.scripted_executor import compiling, finished

LIMIT = timedelta(seconds=60)
OPERATORS = timedelta(minutes=15)


def due(deadline: datetime | None, limit: timedelta = LIMIT) -> Job:
    job = a_job()
    return replace(job, spec=replace(job.spec, deadline=deadline, time_limit_seconds=int(limit.total_seconds())))


@given(st.integers(-10_000_000, 10_000_000), st.integers(1, 900))
def test_a_job_is_too_late_exactly_if_now_and_its_time_limit_are_after_its_deadline(ahead_us: int, limit: int) -> None:
    deadline = START + timedelta(seconds=limit, microseconds=ahead_us)
    spec = due(deadline, timedelta(seconds=limit)).spec
    assert spec.is_too_late(START, OPERATORS) == (ahead_us < 0) == bool(wrong_deadline(spec, START, OPERATORS))
    last = spec.latest_start(OPERATORS)
    assert last is not None
    assert not spec.is_too_late(last, OPERATORS)
    assert spec.is_too_late(last + timedelta.resolution, OPERATORS)


def test_without_a_deadline_nothing_is_too_late_and_without_a_limit_the_operators_counts() -> None:
    assert not due(None).spec.is_too_late(datetime.max.replace(tzinfo=UTC), OPERATORS)
    assert due(START + OPERATORS, timedelta(0)).spec.latest_start(OPERATORS) == START


def test_a_job_that_was_lost_is_not_tried_again_when_that_would_be_too_late() -> None:
    missed = deadline_missed(due(START).spec, OPERATORS, " Its run was lost.")
    for excused in (True, False):
        assert ending_after_loss(a_job(), "it burnt", 3, now=START, excused=excused, deadline_missed=missed) == missed
    assert (missed.state, missed.reason) == (JobState.CANCELLED, "deadline")
    assert "its deadline, 2026-01-01 00:00:00 UTC" in missed.message
    assert "start by 2025-12-31 23:59:00 UTC" in missed.message
    # Who hears that we failed too often need not look at the clock, and who cancelled knows why it is over.
    too_often = ending_after_loss(a_job(attempt=3), "it burnt", 3, now=START, deadline_missed=missed)
    assert too_often
    assert too_often.state is JobState.FAILED
    cancelled = ending_after_loss(a_job(cancel_time=START), "it burnt", 3, now=START, deadline_missed=missed)
    assert cancelled
    assert not cancelled.reason


@pytest.fixture
def clock(stopped_cluster: Cluster) -> ManualClock:
    """The scheduler's clock."""
    clock = ManualClock(datetime.now(UTC))
    stopped_cluster.clock = clock
    return clock


def after(clock: ManualClock, **ahead: float) -> Timestamp:
    deadline = Timestamp()
    deadline.FromDatetime(clock.now() + timedelta(**ahead))
    return deadline


async def started_without_machines(cluster: Cluster) -> Cluster:
    await cluster.pool.tell("machine-1", "STOPPED")
    await cluster.start()
    return cluster


async def submitted(cluster: Cluster, deadline: Timestamp, key: str = "key", seconds: int = 60) -> scheduler_pb2.Job:
    return await cluster.submit(key, deadline=deadline, time_limit=Duration(seconds=seconds))


def assert_missed(ended: scheduler_pb2.JobEvent) -> None:
    assert ended.ended.state == scheduler_pb2.JOB_STATE_CANCELLED
    assert ended.ended.result.verdict == run_event_pb2.VERDICT_CANCELLED
    assert ended.ended.result.reason == "deadline"
    assert ended.ended.cost_micros == 0


async def test_a_waiting_job_is_cancelled_once_it_can_no_longer_end_in_time_and_costs_nothing(
    stopped_cluster: Cluster, clock: ManualClock
) -> None:
    cluster = await started_without_machines(stopped_cluster)
    job = await submitted(cluster, after(clock, seconds=100))
    later = await submitted(cluster, after(clock, seconds=200), "later")
    clock.advance(timedelta(seconds=41))

    events = await cluster.events_to_end(job.job_id)

    assert kinds(events) == ["queued", "ended"]
    assert_missed(events[-1])
    record = await cluster.job(job.job_id)
    assert record.message.startswith("Cancelled by the platform: with its time limit of 60 s it had to start by ")
    assert record.spec.deadline == job.spec.deadline
    assert (await cluster.job(later.job_id)).state == scheduler_pb2.JOB_STATE_QUEUED
    assert len(cluster.billing.open_holds()) == 1


async def test_a_deadline_that_passed_while_the_scheduler_was_down_is_missed_although_a_machine_is_free(
    stopped_cluster: Cluster, clock: ManualClock
) -> None:
    cluster = await started_without_machines(stopped_cluster)
    job = await submitted(cluster, after(clock, seconds=100))
    await cluster.stop()
    clock.advance(timedelta(seconds=41))
    await cluster.pool.tell("machine-2", "WARM")
    await cluster.start()

    assert_missed((await cluster.events_to_end(job.job_id))[-1])

    assert not cluster.executor.requests
    assert not cluster.billing.open_holds()


async def test_a_job_that_may_still_end_in_time_runs(cluster: Cluster) -> None:
    clock = ManualClock(datetime.now(UTC))
    job = await submitted(cluster, after(clock, minutes=30))
    ended = (await cluster.events_to_end(job.job_id))[-1].ended
    assert ended.state == scheduler_pb2.JOB_STATE_FINISHED


async def test_a_run_that_is_lost_too_late_is_not_tried_again(stopped_cluster: Cluster, clock: ManualClock) -> None:
    cluster, gate = stopped_cluster, asyncio.Event()
    cluster.executor.script = (compiling(), gate, finished("INFRA_ERROR", billable_seconds=9, message="disk full"))
    await cluster.start()
    job = await submitted(cluster, after(clock, seconds=100))
    await cluster.event(job.job_id, is_run("compiling"))
    clock.advance(timedelta(seconds=41))
    gate.set()

    events = await cluster.events_to_end(job.job_id)

    assert_missed(events[-1])
    assert "Its run was lost: disk full." in events[-1].ended.result.message
    assert len(cluster.executor.requests) == 1
    assert not cluster.billing.open_holds()


async def test_a_deadline_that_cannot_be_met_is_refused_but_a_repeat_gets_its_job(
    stopped_cluster: Cluster, clock: ManualClock
) -> None:
    cluster = await started_without_machines(stopped_cluster)
    deadline = after(clock, seconds=61)
    job = await submitted(cluster, deadline)
    wrong: dict[str, Any] = {
        "which is past": after(clock, seconds=-1),
        "a run may take 60 s": after(clock, seconds=59),
        "is not a valid time": Timestamp(seconds=2**62),
    }
    for words, one in {**wrong, "which is past; it is": Timestamp(seconds=-62135596800)}.items():
        await refused(submitted(cluster, one, words), grpc.StatusCode.INVALID_ARGUMENT, "spec.deadline", words)
    clock.advance(timedelta(seconds=30))

    assert (await submitted(cluster, deadline)).job_id == job.job_id
    await refused(submitted(cluster, after(clock, days=1)), grpc.StatusCode.ALREADY_EXISTS)


async def test_why_names_the_deadline_and_the_last_moment_to_start(
    stopped_cluster: Cluster, clock: ManualClock
) -> None:
    cluster = await started_without_machines(stopped_cluster)
    job = await submitted(cluster, after(clock, seconds=100))
    other = await cluster.submit("other")
    stub = queues_pb2_grpc.QueueServiceStub(cluster.channel)

    found = await stub.ExplainJob(ExplainJobRequest(job_id=job.job_id))
    unhurried = await stub.ExplainJob(ExplainJobRequest(job_id=other.job_id))

    assert found.deadline == job.spec.deadline
    assert found.latest_start_time.seconds == found.deadline.seconds - 60
    assert not unhurried.HasField("deadline")
    assert not unhurried.HasField("latest_start_time")
    clock.advance(timedelta(seconds=41))
    await cluster.events_to_end(job.job_id)
    assert "its deadline" in (await stub.ExplainJob(ExplainJobRequest(job_id=job.job_id))).reason
