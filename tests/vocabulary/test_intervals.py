from __future__ import annotations

from math import inf, nan

import pytest
from wavepool.executor.v1.run_event_pb2 import BenchmarkResult

from vocabulary.intervals import interval_of_mean


def timed(runtime_ns: float, low_ns: float, high_ns: float) -> BenchmarkResult:
    return BenchmarkResult(runtime_ns=runtime_ns, ci_low_ns=low_ns, ci_high_ns=high_ns)


def test_the_interval_of_a_mean_is_the_mean_of_what_its_cases_have() -> None:
    assert interval_of_mean([timed(100.0, 90.0, 110.0), timed(10.0, 7.0, 13.0)]) == pytest.approx(0.2)


@pytest.mark.parametrize("cases", [[], [timed(0, 0, 0)], [timed(1, nan, 2)], [timed(1, 0, inf)], [timed(1, 2, 1)]])
def test_of_what_is_not_known_there_is_no_interval(cases: list[BenchmarkResult]) -> None:
    assert interval_of_mean(cases) == 0
