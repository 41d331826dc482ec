from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1.run_event_pb2 import BenchmarkResult

from vocabulary.intervals import figure_of, interval_of_mean, time_text, unit_of
from wavepool_client.text.narration import format_time


def timed(runtime_ns: float, low_ns: float, high_ns: float) -> BenchmarkResult:
    return BenchmarkResult(runtime_ns=runtime_ns, ci_low_ns=low_ns, ci_high_ns=high_ns)


def test_the_interval_of_a_mean_is_the_mean_of_what_its_cases_have() -> None:
    assert interval_of_mean([timed(100.0, 90.0, 110.0), timed(10.0, 7.0, 13.0)]) == pytest.approx(0.2)


@pytest.mark.parametrize("cases", [[], [timed(0, 0, 0)], [timed(1, nan, 2)], [timed(1, 0, inf)], [timed(1, 2, 1)]])
def test_of_what_is_not_known_there_is_no_interval(cases: list[BenchmarkResult]) -> None:
    assert interval_of_mean(cases) == 0


@pytest.mark.parametrize(
    ("time_ns", "interval", "text"),
    [
        (53_450.0, 0.79, "53 ± 42 µs"),
        (2.5e6, 0.04, "2.50 ± 0.10 ms"),
        (1.234e9, 0.2, "1.23 ± 0.25 s"),
        (12.0, 0.5, "12.0 ± 6.0 ns"),
        (0.5, 1.0, "0.50 ± 0.50 ns"),
        (53_450.0, 0.0, "53.5 µs"),
        (53_450.0, inf, "53.5 µs"),
        (53_450.0, nan, "53.5 µs"),
    ],
)
def test_a_time_has_the_digits_that_its_interval_leaves(time_ns: float, interval: float, text: str) -> None:
    assert time_text(time_ns, interval) == text


def test_figures_of_one_unit_have_the_last_digit_that_the_interval_has() -> None:
    unit = unit_of(53_450.0)
    assert [figure_of(time, 420.0, unit) for time in (53_450.0, 1_234_567.0)] == ["53.45", "1,234.57"]
    assert figure_of(1_234_567.0, 42_000.0, unit) == "1,235"
    assert figure_of(1_234_567.0, 420_000.0, unit) == "1,230"


@given(st.floats(0.01, 1e12), st.floats(0, 3))
def test_the_command_writes_a_time_as_the_verdict_does(time_ns: float, interval: float) -> None:
    assert format_time(time_ns / 1e6, interval) == time_text(time_ns / 1e6 * 1e6, interval)
