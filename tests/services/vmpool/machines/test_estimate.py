from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.machines.estimate import HISTORY, Start, StartEstimate, quantile, start_estimate

TIMES = st.lists(st.timedeltas(timedelta(0), timedelta(hours=1)), min_size=1, max_size=60)


def starts(*seconds: float, backend: str = "hotaisle") -> list[Start]:
    return [Start(backend, timedelta(seconds=number)) for number in seconds]


def estimate(p50: float, p90: float) -> StartEstimate:
    return StartEstimate(timedelta(seconds=p50), timedelta(seconds=p90))


def test_nothing_is_estimated_without_history() -> None:
    assert start_estimate([], "hotaisle") is None


def test_half_and_nine_tenths_of_the_starts_did_not_exceed_the_estimate() -> None:
    assert start_estimate(starts(*range(1, 11)), "hotaisle") == estimate(5, 9)
    assert start_estimate(starts(90, 10, 20), "hotaisle") == estimate(20, 90)


def test_starts_at_the_same_backend_count_where_there_are_any() -> None:
    history = starts(10, 20, 30) + starts(600, backend="amddevcloud")
    assert start_estimate(history, "amddevcloud") == estimate(600, 600)
    assert start_estimate(history, "elsewhere") == estimate(20, 600)


def test_only_the_latest_starts_count() -> None:
    history = starts(*[10.0] * HISTORY) + starts(*[900.0] * 50)
    assert start_estimate(history, "hotaisle") == estimate(10, 10)


@given(TIMES, st.integers(1, 100))
def test_a_quantile_is_the_least_time_that_enough_starts_did_not_exceed(times: list[timedelta], percent: int) -> None:
    found = quantile(times, percent)
    not_above = sum(time <= found for time in times)
    below = sum(time < found for time in times)
    assert found in times
    assert below * 100 < len(times) * percent <= not_above * 100
