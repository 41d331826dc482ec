from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.estimate import percentile, wait_estimate

SECOND = timedelta(seconds=1)
RUNS = [SECOND * n for n in (1, 2, 3, 4, 10)]


def test_nothing_is_said_without_history_or_machines() -> None:
    assert wait_estimate(1, 1, 1, RUNS[:2]) is None
    assert wait_estimate(1, 0, 0, RUNS) is None


def test_job_with_a_free_machine_waits_for_nobody() -> None:
    wait = wait_estimate(1, 1, 1, RUNS)
    assert wait is not None
    assert (wait.p50, wait.p90) == (timedelta(0), timedelta(0))


def test_each_round_of_the_machines_takes_one_run() -> None:
    wait = wait_estimate(5, 2, 0, RUNS)
    assert wait is not None
    assert (wait.p50, wait.p90) == (3 * 3 * SECOND, 3 * 10 * SECOND)


@given(st.integers(1, 1000), st.integers(1, 50), st.integers(0, 50), st.lists(st.timedeltas(timedelta(0)), min_size=3))
def test_jobs_behind_never_wait_less_and_p90_is_never_below_p50(
    position: int, slots: int, free: int, runs: list[timedelta]
) -> None:
    runs = [min(run, timedelta(days=1)) for run in runs]
    ahead, behind = wait_estimate(position, slots, free, runs), wait_estimate(position + 1, slots, free, runs)
    assert ahead is not None
    assert behind is not None
    assert ahead.p50 <= behind.p50
    assert ahead.p50 <= ahead.p90


@given(st.lists(st.timedeltas(), min_size=1), st.integers(1, 100))
def test_at_least_that_share_of_the_values_is_not_above_the_percentile(values: list[timedelta], percent: int) -> None:
    bound = percentile(values, percent)
    assert 100 * sum(value <= bound for value in values) >= percent * len(values)
