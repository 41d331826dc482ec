from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1.run_event_pb2 import Benchmarked, Finished

from services.scheduler.jobs.ended_attempt import EndedAttempt, ended_attempt
from services.scheduler.jobs.errors import IllegalMoveError
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.states import OVER_STATES, JobState
from tests.services.scheduler.jobs import LEASE, START, a_job, a_queued_job
from tests.services.scheduler.test_job import CANCELLED, FAILED, MOVES
from vocabulary.limits import DEFAULT_QUEUE
from vocabulary.slots import Slot


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def accepted(billable_seconds: int, gflops: float = 0.0) -> Outcome:
    result = Finished(billable=Duration(seconds=billable_seconds), benchmarked=Benchmarked(mean_gflops=gflops))
    return Outcome(JobState.FINISHED, "ACCEPTED", "", result.SerializeToString(), 5)


def figures_of(before: Job, after: Job, at_seconds: float) -> EndedAttempt:
    found = ended_attempt(before, after, START + seconds(at_seconds))
    assert found is not None
    return found


def test_the_gpu_time_of_a_run_with_a_verdict_is_of_use_as_far_as_the_run_took_it() -> None:
    half = replace(LEASE, slots=(Slot(1, 0, 4),))
    settling = a_queued_job(age_seconds=7).start(half, START, "MI210").settle(accepted(6, gflops=12.5))
    found = figures_of(settling, settling.finish(5, START), 10)
    assert (found.wait, found.run) == (seconds(7), seconds(10))
    assert (found.useful_gpu_time, found.leased_gpu_time) == (seconds(3), seconds(5))
    assert (found.state, found.verdict, found.lost, found.gflops) == ("finished", "ACCEPTED", False, 12.5)
    assert (found.gpu_type, found.machine_id, found.queue) == ("MI210", "machine-1", DEFAULT_QUEUE)
    assert (found.account_id, found.problem, found.mode) == ("account-1", "leaky-relu", "check")


def test_a_run_was_of_no_more_use_than_its_lease_lasted_whatever_its_machine_claims() -> None:
    settling = a_queued_job().start(LEASE, START).settle(accepted(60))
    found = figures_of(settling, settling.finish(5, START), 10)
    assert found.useful_gpu_time == found.leased_gpu_time == seconds(10)


def test_a_lost_attempt_paid_for_nothing_of_use_and_its_successor_has_no_wait() -> None:
    running = a_queued_job(age_seconds=2).start(LEASE, START)
    again = running.retry()
    found = figures_of(running, again, 4)
    assert (found.attempt, found.lost, found.state, found.machine_id) == (1, True, "", "machine-1")
    assert (found.useful_gpu_time, found.leased_gpu_time, found.wait) == (seconds(0), seconds(4), seconds(2))
    settling = again.start(LEASE, START + seconds(5)).settle(accepted(1))
    second = figures_of(settling, settling.finish(0, START), 8)
    assert (second.attempt, second.wait, second.run, second.lost) == (2, None, seconds(3), False)


def test_an_attempt_that_somebody_stopped_is_not_lost_but_was_of_no_use() -> None:
    running = a_queued_job().start(LEASE, START)
    found = figures_of(running, running.retry(excused=True), 4)
    assert (found.lost, found.useful_gpu_time, found.leased_gpu_time) == (False, seconds(0), seconds(4))


@pytest.mark.parametrize(("outcome", "lost"), [(FAILED, True), (CANCELLED, False)])
def test_a_job_that_failed_on_its_machine_lost_its_attempt_and_a_cancelled_one_did_not(
    outcome: Outcome, lost: bool
) -> None:
    settling = a_queued_job().start(LEASE, START).settle(outcome)
    found = figures_of(settling, settling.finish(0, START), 1)
    assert (found.lost, found.useful_gpu_time, found.gflops) == (lost, seconds(0), None)


def test_a_job_that_never_had_a_machine_waited_and_ran_for_no_time_at_all() -> None:
    settling = a_queued_job().settle(FAILED)
    found = figures_of(settling, settling.finish(0, START), 30)
    assert (found.wait, found.run, found.lost, found.leased_gpu_time) == (None, None, False, seconds(0))


@given(st.lists(st.sampled_from(sorted(MOVES)), max_size=40), st.floats(-10, 100))
def test_each_attempt_ends_once_and_a_jobs_last_one_with_the_job(names: list[str], at_seconds: float) -> None:
    job, ended = a_job(), list[EndedAttempt]()
    for name in names:
        before = job
        with suppress(IllegalMoveError):
            job = MOVES[name](job)
            if found := ended_attempt(before, job, START + seconds(at_seconds)):
                ended.append(found)
    assert len({found.attempt for found in ended}) == len(ended)
    assert [bool(found.state) for found in ended] == [False] * (job.attempt - 1) + [True] * (job.state in OVER_STATES)
    for found in ended:
        assert timedelta(0) <= found.useful_gpu_time <= found.leased_gpu_time
