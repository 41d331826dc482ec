from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL, RUN_MODE_SANDBOX

from services.scheduler.jobs.run_history import LEAST_USES, RUNS_REMEMBERED, RunHistory, RunKind, kind_of
from tests.services.scheduler.jobs import LEASE, START, a_queued_job

HOUR = timedelta(hours=1)
RELU_CHECK = RunKind("relu", RUN_MODE_CHECK, "MI300X")


def history_of(*runs: tuple[RunKind, float]) -> RunHistory:
    history = RunHistory()
    for kind, seconds in runs:
        history.remember(kind, timedelta(seconds=seconds))
    return history


def test_a_kind_with_enough_runs_is_told_from_all_others() -> None:
    slow = RunKind("softmax", RUN_MODE_FULL, "MI300X")
    history = history_of(*[(RELU_CHECK, 1.0)] * 3, *[(slow, 60.0)] * 3)
    assert list(history.times(RELU_CHECK)) == [1.0] * 3
    assert list(history.times(slow)) == [60.0] * 3


def test_without_enough_runs_the_next_wider_kind_counts() -> None:
    other_problem, other_gpu = RunKind("gelu", RUN_MODE_CHECK, "MI300X"), RunKind("gelu", RUN_MODE_CHECK, "MI210")
    full = RunKind("gelu", RUN_MODE_FULL, "MI300X")
    history = history_of((RELU_CHECK, 1.0), (other_problem, 2.0), (other_problem, 3.0), (other_gpu, 9.0), (full, 60.0))
    assert list(history.times(RELU_CHECK)) == [1.0, 2.0, 3.0], "any problem, in this mode on this GPU"
    assert list(history.times(other_gpu)) == [1.0, 2.0, 3.0, 9.0], "any GPU, in this mode"
    assert list(history.times(full)) == [1.0, 2.0, 3.0, 9.0, 60.0], "anything"
    assert list(history_of((RELU_CHECK, 1.0)).times(RELU_CHECK)) == []


def test_a_program_is_no_measure_of_another_users() -> None:
    mine = RunKind("", RUN_MODE_SANDBOX, "MI300X", "ada")
    hers = replace(mine, author="eve")
    assert history_of(*[(RELU_CHECK, 1.0)] * 3).sample(mine, 900).times == [], "nor is a run of a problem"
    history = history_of(*[(hers, 3.0)] * 4)
    widened = history.sample(mine, 900)
    assert (widened.times, widened.runs) == ([3.0] * 4 + [900], 4)
    assert "time limits" in widened.what
    assert history.sample(hers, 2).times == [2.0] * 4, "at its limit it is over"
    assert "the same users" in history.sample(hers, 900).what
    assert history.sample(RELU_CHECK, 900).what == "of other problems"


def test_old_runs_are_forgotten() -> None:
    history = history_of(*[(RELU_CHECK, 1.0)] * RUNS_REMEMBERED, *[(RELU_CHECK, 5.0)] * RUNS_REMEMBERED)
    assert set(history.times(RELU_CHECK)) == {5.0}


def test_a_jobs_kind_is_of_the_gpu_that_it_got() -> None:
    job = a_queued_job(problem="relu", fallback_gpu_types=("MI210",))
    assert kind_of(job) == RELU_CHECK
    assert kind_of(job.start(LEASE, START, "MI210")) == RunKind("relu", RUN_MODE_CHECK, "MI210")


def test_people_use_a_part_of_their_time_as_those_did_who_asked_for_about_as_much() -> None:
    history = RunHistory()
    assert history.parts(HOUR) == (1.0,), "all of it, before anything is known"
    for _ in range(LEAST_USES):
        history.remember_use(10 * HOUR, 5 * HOUR)
    assert set(history.parts(8 * HOUR)) == {0.5}
    assert set(history.parts(HOUR)) == {0.5}, "of any length, if too few are known"
    for _ in range(LEAST_USES):
        history.remember_use(HOUR, 2 * HOUR)
    assert set(history.parts(HOUR / 2)) == {2.0}, "extensions are included"
    assert set(history.parts(8 * HOUR)) == {0.5}


def test_who_may_come_is_known_of_days_that_are_known_whole() -> None:
    history = RunHistory()
    first, second = (replace(a_queued_job(number), create_time=START + number * 20 * HOUR) for number in (0, 1))
    for job in (first, second):
        history.remember_arrival(job)
    assert history.whole_days(START + 23 * HOUR) == []
    assert history.whole_days(START + 25 * HOUR) == [[(19 * HOUR, second)]]
    two_days = history.whole_days(START + 50 * HOUR)
    assert two_days == [[], [(18 * HOUR, second)]]
    history.forget_reservations()
    assert history.whole_days(START + 50 * HOUR) == []
