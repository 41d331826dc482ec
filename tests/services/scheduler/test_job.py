from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.scheduler.jobs.errors import IllegalMoveError
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.states import LEGAL_MOVES, OVER_STATES, JobState
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job
from vocabulary.slots import Slot

CANCELLED = Outcome(JobState.CANCELLED, "CANCELLED", "", b"", 0)
FAILED = Outcome(JobState.FAILED, "INFRA_ERROR", "", b"", 0)
MOVES: dict[str, Callable[[Job], Job]] = {
    "enqueue": lambda job: job.enqueue("hold-1"),
    "abandon": lambda job: job.abandon(),
    "provision": lambda job: job.provision(),
    "requeue": lambda job: job.requeue(),
    "start": lambda job: job.start(LEASE, START),
    "progress": lambda job: job.progress(job.run_seq + 1, 5),
    "request_cancel": lambda job: job.request_cancel(START),
    "retry": lambda job: job.retry(),
    "accept": lambda job: job.settle(ACCEPTED),
    "cancel": lambda job: job.settle(CANCELLED),
    "fail": lambda job: job.settle(FAILED),
    "finish": lambda job: job.finish(job.cost_micros, START),
}
STAYS = {"progress", "request_cancel"}


@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=40))
def test_no_sequence_of_moves_leaves_the_table(names: list[str]) -> None:
    job = a_job()
    for name in names:
        before = job
        with suppress(IllegalMoveError):
            job = MOVES[name](before)
        if job is not before and name not in STAYS:
            assert job.state in LEGAL_MOVES[before.state]


@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=40))
@example(["enqueue", "start", "enqueue"])
@example(["enqueue", "provision", "enqueue"])
def test_what_the_database_checks_holds_in_every_state(names: list[str]) -> None:
    job = a_job()
    for name in names:
        with suppress(IllegalMoveError):
            job = MOVES[name](job)
        assert (job.state is not JobState.RUNNING) or (job.lease and job.start_time)
        assert job.lease is None or job.state in {JobState.RUNNING, JobState.SETTLING}
        assert (job.end_time is not None) == (job.state in OVER_STATES)
        assert job.hold_id or job.state in {JobState.RESERVING, JobState.ABANDONED}
        assert job.state not in OVER_STATES or job.state is job.ending


def test_every_state_is_reached_and_every_job_can_end() -> None:
    reached, frontier = {JobState.RESERVING}, [JobState.RESERVING]
    while frontier:
        fresh = LEGAL_MOVES[frontier.pop()] - reached
        reached |= fresh
        frontier += fresh
    assert reached == set(JobState)
    for state in set(JobState) - OVER_STATES - {JobState.ABANDONED}:
        assert LEGAL_MOVES[state], f"{state} is a trap"
    for state in OVER_STATES:
        assert not LEGAL_MOVES[state], f"{state} is left again"


@pytest.mark.parametrize("state", sorted(set(JobState) - {JobState.SETTLING}))
def test_job_that_is_not_settling_cannot_end(state: JobState) -> None:
    with pytest.raises(IllegalMoveError):
        a_job(state=state, ending=JobState.FINISHED).finish(0, START)


def test_retry_begins_a_fresh_attempt_with_another_run_id() -> None:
    running = a_job().enqueue("hold-1").start(LEASE, START).progress(7, 900)
    retried = running.retry()
    assert (retried.attempt, retried.run_seq, retried.cost_micros, retried.lease) == (2, 0, 0, None)
    assert retried.run_id != running.run_id
    assert retried.hold_id == "hold-1"


def test_second_cancellation_keeps_the_time_of_the_first() -> None:
    running = a_job().enqueue("hold-1").start(LEASE, START)
    assert running.request_cancel(START).request_cancel(LEASE.expire_time).cancel_time == START


def test_a_range_is_charged_for_what_its_attempt_got_and_the_next_attempt_begins_anew() -> None:
    job = a_job(resources=Resources(32, least_eighths=8)).enqueue("hold-1")
    hour = timedelta(hours=1)
    running = job.changed(hold_micros=10**9).start(replace(LEASE, slots=(Slot(0, 0, 8), Slot(1, 0, 8))), START)
    assert (running.got_eighths, running.charge_for(hour)) == (16, 2 * job.price_micros_per_hour)
    assert (running.retry().got_eighths, running.retry().eighths) == (0, 32)
