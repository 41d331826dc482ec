from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.jobs.problem_runs import LEAST_RUNS, ProblemRuns, slowdowns

TIMES = st.lists(st.floats(0.01, 1000), min_size=LEAST_RUNS, max_size=10)


def test_runs_are_slower_by_the_mean_of_their_problems() -> None:
    twice = ProblemRuns("MI300X", [2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    eight_times = ProblemRuns("MI300X", [80.0, 80.0, 900.0], [10.0, 10.0, 1.0])
    other = ProblemRuns("MI210", [1.0, 1.0, 1.0], [2.0, 2.0, 2.0])
    assert slowdowns([twice, eight_times, other]) == {"MI300X": pytest.approx(4.0), "MI210": pytest.approx(0.5)}


def test_few_runs_say_nothing() -> None:
    assert slowdowns([ProblemRuns("MI300X", [9.0, 9.0], [1.0] * 9), ProblemRuns("MI300X", [9.0] * 9, [])]) == {}


@given(st.lists(TIMES, min_size=1, max_size=5), st.floats(0.1, 10))
def test_the_same_factor_everywhere_is_the_slowdown_however_long_the_runs_are(
    times: list[list[float]], factor: float
) -> None:
    runs = [ProblemRuns("MI300X", [factor * one for one in each], each) for each in times]
    assert slowdowns(runs)["MI300X"] == pytest.approx(factor)
