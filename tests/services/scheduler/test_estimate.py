from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.estimate import PLAYED_AHEAD, Slots, WaitEstimate, percentile, wait_estimate

SECOND = timedelta(seconds=1)
RUNS = (1.0, 2.0, 3.0, 4.0, 10.0)
times = st.lists(st.floats(0, 86_400), min_size=3, max_size=8)
all_slots = st.builds(
    Slots,
    st.integers(0, 3),
    st.lists(st.tuples(st.floats(0, 86_400), times), max_size=3),
    st.lists(st.tuples(st.floats(0, 600), st.floats(0, 300), st.floats(300, 600)), max_size=2),
)


def known(ahead: list[tuple[float, ...]], slots: Slots, seed: str = "job-1") -> WaitEstimate:
    estimate = wait_estimate(ahead, slots, seed)
    assert estimate is not None
    return estimate


def test_nothing_is_said_without_history_or_gpus() -> None:
    assert wait_estimate([()], Slots(free=1), "job-1") is None
    assert wait_estimate([], Slots(busy=[(0.0, ())]), "job-1") is None
    assert wait_estimate([RUNS], Slots(), "job-1") is None


def test_a_job_with_a_free_gpu_waits_for_nobody() -> None:
    assert known([RUNS], Slots(free=2)) == WaitEstimate(timedelta(0), timedelta(0))


def test_each_gpu_takes_the_next_job_when_it_is_free() -> None:
    """Two GPUs, five jobs of 10 s ahead and one run of 10 s that has 4 s to go."""
    ten = (10.0, 10.0, 10.0)
    slots = Slots(busy=[(6.0, ten), (0.0, ten)])
    assert known([ten] * 5, slots).p90 == 30 * SECOND
    assert known([], slots) == WaitEstimate(4 * SECOND, 4 * SECOND)


def test_a_job_of_several_gpus_waits_for_all_of_them_and_those_behind_it_for_its_end() -> None:
    """Two GPUs: one free, one with a run of 10 s that has 4 s to go."""
    ten = (10.0, 10.0, 10.0)
    slots = Slots(free=1, busy=[(6.0, ten)])
    large = wait_estimate([], slots, "job-1", gpus=2)
    behind = wait_estimate([ten], slots, "job-1", gpus_ahead=[2])
    assert large == WaitEstimate(4 * SECOND, 4 * SECOND)
    assert behind == WaitEstimate(14 * SECOND, 14 * SECOND)
    assert wait_estimate([], slots, "job-1", gpus=4) is None
    assert known([ten], Slots(free=2)).p90 == timedelta(0)


def test_what_is_ahead_counts_by_its_own_kind() -> None:
    checks, benchmarks = (1.0, 1.0, 1.0), (60.0, 60.0, 60.0)
    busy = Slots(busy=[(0.0, checks)])
    assert known([checks] * 3, busy).p90 == 4 * SECOND
    assert known([benchmarks] * 3, busy).p50 == 181 * SECOND


def test_a_run_that_is_longer_than_all_known_ones_takes_as_long_again() -> None:
    assert known([], Slots(busy=[(25.0, RUNS)])).p50 == 25 * SECOND


def test_a_machine_that_starts_is_free_when_it_is_ready() -> None:
    estimate = known([], Slots(starting=[(50.0, 200.0, 300.0)]))
    assert estimate.p50 == pytest.approx(150 * SECOND, abs=5 * SECOND)
    assert timedelta(seconds=200) <= estimate.p90 <= timedelta(seconds=300)


def test_a_very_long_queue_counts_beyond_what_is_played() -> None:
    one = (1.0, 1.0, 1.0)
    slots = Slots(busy=[(0.0, one)])
    assert known([one] * (PLAYED_AHEAD + 300), slots).p50 == (PLAYED_AHEAD + 301) * SECOND


def test_the_p90_is_nearer_to_the_truth_than_that_of_one_run_after_the_other() -> None:
    """Of many runs, not all are slow: nine tenths of 20 runs in a row end before 20 times the slow one."""
    often_quick = (1.0,) * 8 + (20.0,) * 2
    estimate = known([often_quick] * 20, Slots(busy=[(0.0, often_quick)]))
    assert 60 * SECOND < estimate.p50 < 140 * SECOND
    assert estimate.p50 < estimate.p90 < 250 * SECOND


@given(st.lists(times, max_size=12), times, all_slots, st.text(max_size=5))
def test_jobs_behind_never_wait_less_and_p90_is_never_below_p50(
    ahead: list[list[float]], one: list[float], slots: Slots, seed: str
) -> None:
    first, behind = wait_estimate(ahead, slots, seed), wait_estimate([*ahead, one], slots, seed)
    if first is None:
        assert not len(slots)
        return
    assert behind is not None
    assert timedelta(0) <= first.p50 <= first.p90
    assert first.p50 <= behind.p50
    assert first.p90 <= behind.p90
    assert wait_estimate(ahead, slots, seed) == first, "the same seed gives the same estimate"


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(1, 100))
def test_at_least_that_share_of_the_values_is_not_above_the_percentile(values: list[float], percent: int) -> None:
    bound = percentile(values, percent)
    assert 100 * sum(value <= bound for value in values) >= percent * len(values)
