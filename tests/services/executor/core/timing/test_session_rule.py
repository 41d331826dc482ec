from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.timing.session_rule import (
    CPU_SESSIONS,
    GPU_SESSIONS,
    Agreement,
    agreement,
    disagreement,
    score,
)

times = st.floats(1e-6, 1e3)


@given(st.lists(times, max_size=2))
def test_fewer_than_three_sessions_are_never_enough(medians: list[float]) -> None:
    assert agreement(medians, GPU_SESSIONS) is Agreement.MORE


@given(times, st.lists(st.floats(0.9951, 1.0049), min_size=3, max_size=3))
def test_sessions_within_one_per_cent_agree(level: float, factors: list[float]) -> None:
    assert agreement([level * factor for factor in factors], GPU_SESSIONS) is Agreement.AGREED


@given(st.lists(times, min_size=5, max_size=5))
def test_five_sessions_end_it_one_way_or_the_other(medians: list[float]) -> None:
    ordered = sorted(medians)
    agree = (ordered[3] - ordered[1]) / ordered[2] <= 0.01
    assert agreement(medians, GPU_SESSIONS) is (Agreement.AGREED if agree else Agreement.UNSTABLE)


def test_one_session_that_is_off_brings_two_more_and_is_outvoted() -> None:
    assert agreement([1.0, 1.001, 1.03], GPU_SESSIONS) is Agreement.MORE
    assert agreement([1.0, 1.001, 1.03, 1.002], GPU_SESSIONS) is Agreement.MORE
    assert agreement([1.0, 1.001, 1.03, 1.002, 1.0], GPU_SESSIONS) is Agreement.AGREED
    assert score([1.0, 1.001, 1.03, 1.002, 1.0]) == 1.001
    assert agreement([1.0, 1.02, 1.04, 1.06, 1.08], GPU_SESSIONS) is Agreement.UNSTABLE


@given(st.lists(times, min_size=3, max_size=3), st.permutations(range(3)))
def test_the_order_of_sessions_does_not_matter(medians: list[float], order: list[int]) -> None:
    shuffled = [medians[at] for at in order]
    assert disagreement(shuffled, GPU_SESSIONS) == disagreement(medians, GPU_SESSIONS)
    assert score(shuffled) == median(medians)


@given(st.lists(times, min_size=3, max_size=3))
def test_no_kernel_is_unstable_on_a_busy_processor(medians: list[float]) -> None:
    assert agreement(medians, CPU_SESSIONS) is Agreement.AGREED


@given(st.lists(times, min_size=3, max_size=3), times)
def test_a_lucky_session_alone_does_not_move_the_score_beyond_the_others(medians: list[float], lucky: float) -> None:
    assert min(medians) <= score([*medians[:2], medians[2], max(medians), min(lucky, *medians)])


def test_disagreement_is_relative_to_the_median() -> None:
    assert disagreement([100.0, 101.0, 103.0], GPU_SESSIONS) == pytest.approx(3 / 101)
