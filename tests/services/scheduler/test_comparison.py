from __future__ import annotations

import random
from collections.abc import Sequence
from math import isclose
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.executor.v1 import run_event_pb2

from services.scheduler.jobs.comparison import Comparison, ComparisonVerdict, compare
from services.scheduler.jobs.errors import NotComparableError
from tests.services.scheduler.timed_jobs import case, timed_job


def compared(base: Sequence[Any], other: Sequence[Any], **changes: Any) -> Comparison:
    return compare(timed_job(1, base), timed_job(2, other, **changes))


@pytest.mark.parametrize(
    ("other_ns", "spread", "verdict"),
    [
        (800.0, 0.01, ComparisonVerdict.FASTER),
        (1250.0, 0.01, ComparisonVerdict.SLOWER),
        (1005.0, 0.005, ComparisonVerdict.SAME),
        (990.0, 0.2, ComparisonVerdict.UNCLEAR),
        (700.0, 0.9, ComparisonVerdict.UNCLEAR),
        # Surely not equal, and perhaps by less than 2 %.
        (985.0, 0.01, ComparisonVerdict.UNCLEAR),
    ],
)
def test_the_verdict_follows_from_the_interval(other_ns: float, spread: float, verdict: ComparisonVerdict) -> None:
    assert compared([case("a", 1000.0, spread)], [case("a", other_ns, spread)]).verdict is verdict


def test_the_speedup_is_the_geometric_mean_over_the_cases_that_both_have() -> None:
    found = compared(
        [case("a", 100.0), case("b", 400.0), case("only here", 5.0)],
        [case("b", 100.0), case("a", 50.0), case("c", 1.0)],
    )
    assert [(one.name, one.base_ns, one.other_ns, round(one.speedup.ratio, 9)) for one in found.cases] == [
        ("a", 100.0, 50.0, 2.0),
        ("b", 400.0, 100.0, 4.0),
    ]
    assert isclose(found.speedup.ratio, 8**0.5)
    assert found.speedup.low < found.speedup.ratio < found.speedup.high
    # The mean of two cases is known better than each.
    assert found.speedup.high / found.speedup.low < found.cases[0].speedup.high / found.cases[0].speedup.low


def test_sessions_that_disagree_make_the_answer_unclear_however_narrow_their_intervals_are() -> None:
    wide, narrow = (900.0, 1000.0, 1400.0), (999.0, 1000.0, 1001.0)
    faster = [case("a", 900.0, 0.001, narrow)]
    assert compared([case("a", 1000.0, 0.001, narrow)], faster).verdict is ComparisonVerdict.FASTER
    assert compared([case("a", 1000.0, 0.001, wide)], faster).verdict is ComparisonVerdict.UNCLEAR


@pytest.mark.parametrize("change", [{"timing": run_event_pb2.TIMING_UNPROVEN}, {"simulated": True}])
def test_times_that_are_not_proven_are_shown_and_never_judged(change: dict[str, Any]) -> None:
    found = compared([case("a", 1000.0)], [case("a", 100.0)], **change)
    assert (found.verdict, "job-002 are not proven" in found.reason) == (ComparisonVerdict.UNCLEAR, True)
    assert isclose(found.speedup.ratio, 10.0)
    assert found.cases[0].verdict is ComparisonVerdict.UNCLEAR


def test_each_case_has_a_verdict_of_its_own() -> None:
    found = compared([case("a", 1000.0), case("b", 1000.0)], [case("a", 500.0), case("b", 2000.0)])
    assert [one.verdict for one in found.cases] == [ComparisonVerdict.FASTER, ComparisonVerdict.SLOWER]


def test_a_case_without_an_interval_tells_nothing() -> None:
    unknown = run_event_pb2.BenchmarkResult(name="a", runtime_ns=10.0)
    found = compared([case("a", 1000.0)], [unknown])
    assert found.verdict is ComparisonVerdict.UNCLEAR
    assert found.speedup.low == 0.0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"problem": "relu"}, "job-001 has the problem leaky-relu, and job-002 has relu"),
        ({"machine_gpu_type": "MI210"}, "the hardware MI300X, and job-002 has MI210"),
        ({"device": "cpu"}, "the hardware MI300X, and job-002 has cpu"),
        ({"dtype": "float16"}, "the element type float32, and job-002 has float16"),
        ({"timing_mode": "hot"}, "the timing mode cold, and job-002 has hot"),
    ],
)
def test_jobs_whose_times_say_nothing_about_each_other_are_refused(change: dict[str, Any], named: str) -> None:
    with pytest.raises(NotComparableError, match=named):
        compared([case("a", 1000.0)], [case("a", 1000.0)], **change)


def test_jobs_without_times_or_a_common_case_are_refused() -> None:
    with pytest.raises(NotComparableError, match="job-002 has no times"):
        compared([case("a", 1000.0)], [])
    with pytest.raises(NotComparableError, match="no case in common"):
        compared([case("a", 1000.0)], [case("b", 1000.0)])


times = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=5)


@given(times, st.floats(0.5, 2.0), st.floats(0.0, 0.3))
def test_to_swap_the_jobs_turns_the_answer_round(runtimes: list[float], factor: float, spread: float) -> None:
    base = [case(str(number), ns, spread) for number, ns in enumerate(runtimes)]
    other = [case(str(number), ns * factor, spread) for number, ns in enumerate(runtimes)]
    there, back = compared(base, other), compared(other, base)
    opposite = {ComparisonVerdict.FASTER: ComparisonVerdict.SLOWER, ComparisonVerdict.SLOWER: ComparisonVerdict.FASTER}
    assert back.verdict is opposite.get(there.verdict, there.verdict)
    assert isclose(there.speedup.ratio * back.speedup.ratio, 1.0)
    assert isclose(there.speedup.low * back.speedup.high, 1.0)


def test_equal_kernels_are_seldom_called_unequal() -> None:
    """Of pairs of equal kernels with honest 95 % intervals, 5 % get a winner; of 2,000, 80 to 120 with 95 %."""
    randoms = random.Random(7)  # noqa: S311 - not a secret
    error = 0.05 / 1.959964

    def measured() -> list[Any]:
        return [case(name, 1000.0 * randoms.lognormvariate(0.0, error), 0.05) for name in "abcd"]

    verdicts = [compared(measured(), measured()).verdict for _ in range(2000)]
    winners = sum(verdict in {ComparisonVerdict.FASTER, ComparisonVerdict.SLOWER} for verdict in verdicts)
    assert winners < 120
