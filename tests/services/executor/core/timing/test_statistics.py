from __future__ import annotations

import math
import random
import statistics as reference
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.timing.statistics import (
    correlated_ranks,
    geometric_mean,
    interval_of_sessions,
    median_ranks,
    relative_half_width,
    summarise,
)

positive = st.floats(1e-9, 1e9)
ORDER_MATTERS = ("ci_low", "ci_high", "correlation_time", "bimodality")


@given(st.lists(positive, min_size=1))
def test_a_summary_agrees_with_the_standard_library_and_is_in_order(samples: list[float]) -> None:
    summary = summarise(samples)
    assert summary.median == pytest.approx(reference.median(samples))
    assert (summary.minimum, summary.maximum, summary.count) == (min(samples), max(samples), len(samples))
    # Interpolation between equal neighbours may be off by one unit in the last place.
    slack = summary.maximum * 1e-12
    in_order = [summary.minimum, summary.p5, summary.p25, summary.median, summary.p75, summary.p95, summary.p99]
    assert all(low <= high + slack for low, high in zip(in_order, [*in_order[1:], summary.maximum], strict=True))
    assert summary.ci_low <= summary.median + slack
    assert summary.median <= summary.ci_high + slack
    assert summary.mad == pytest.approx(reference.median([abs(s - reference.median(samples)) for s in samples]))
    assert summary.iqr == summary.p75 - summary.p25


@given(st.lists(positive, min_size=1), st.floats(0.5, 2.0))
def test_a_summary_scales_with_its_samples(samples: list[float], factor: float) -> None:
    scaled = summarise([sample * factor for sample in samples])
    assert scaled.median == pytest.approx(summarise(samples).median * factor)
    assert scaled.mad == pytest.approx(summarise(samples).mad * factor, abs=scaled.maximum * 1e-9)


@given(st.lists(positive, min_size=1))
def test_the_order_of_samples_matters_to_nothing_but_the_interval(samples: list[float]) -> None:
    ordered = summarise(sorted(samples, reverse=True))
    same = replace(summarise(samples), **{name: getattr(ordered, name) for name in ORDER_MATTERS})
    assert same == ordered or math.isnan(same.bimodality)


@given(st.lists(positive, min_size=40, max_size=200), st.randoms())
def test_samples_that_depend_on_each_other_have_a_wider_interval(samples: list[float], random: random.Random) -> None:
    random.shuffle(samples)
    mixed, ordered = summarise(samples), summarise(sorted(samples))
    assert ordered.correlation_time >= mixed.correlation_time * 0.5
    low, high = median_ranks(len(samples))
    for summary in (mixed, ordered):
        assert summary.ci_low <= sorted(samples)[low]
        assert summary.ci_high >= sorted(samples)[high]


@given(st.integers(6, 500), st.floats(1, 100))
def test_ranks_stay_symmetric_and_never_get_closer_for_dependent_samples(count: int, correlation_time: float) -> None:
    low, high = correlated_ranks(count, correlation_time)
    independent = median_ranks(count)
    assert 0 <= low <= independent[0] <= independent[1] <= high <= count - 1
    assert low + high == count - 1
    assert correlated_ranks(count, 1.0) == independent


def test_two_modes_and_uniform_samples_are_distinguished_from_a_bell() -> None:
    draw = random.Random(11)  # noqa: S311 - a simulation
    bell = summarise([100 + draw.gauss(0, 1) for _ in range(1000)])
    uniform = summarise([100 + draw.random() for _ in range(1000)])
    modes = summarise([100 + draw.gauss(0, 1) + 8 * (draw.random() < 0.5) for _ in range(1000)])
    assert bell.bimodality == pytest.approx(1 / 3, abs=0.03)
    assert uniform.bimodality == pytest.approx(5 / 9, abs=0.03)
    assert modes.bimodality > 0.8
    assert math.isnan(summarise([1.0] * 10).bimodality)


@pytest.mark.parametrize(("count", "ranks"), [(6, (0, 5)), (9, (1, 7)), (100, (39, 60)), (1000, (468, 531))])
def test_the_medians_ranks_are_those_of_the_binomial_table(count: int, ranks: tuple[int, int]) -> None:
    assert median_ranks(count) == ranks


@given(st.integers(6, 500))
def test_the_medians_interval_has_its_confidence_and_no_narrower_one_has(count: int) -> None:
    low, high = median_ranks(count)
    assert high == count - 1 - low
    assert _coverage(count, low) >= 0.95
    assert low + 1 >= count // 2 or _coverage(count, low + 1) < 0.95


def _coverage(count: int, low: int) -> float:
    """Probability that the median lies between the symmetric ranks: at least low + 1 samples on either side of it."""
    return 1 - 2 * sum(math.comb(count, k) for k in range(low + 1)) / 2**count


def test_the_interval_covers_the_true_median_about_as_often_as_it_says() -> None:
    draw = random.Random(7)  # noqa: S311 - a simulation
    covered = 0
    for _ in range(2000):
        summary = summarise([draw.expovariate(1.0) for _ in range(100)])
        covered += summary.ci_low <= math.log(2) <= summary.ci_high
    assert 0.93 <= covered / 2000 <= 0.985


def test_the_half_width_is_relative_to_the_median() -> None:
    assert relative_half_width([1.0] * 100) == 0
    ordered = [float(value) for value in range(1, 101)]
    assert relative_half_width(ordered) == pytest.approx((61 - 40) / 2 / 50.5)
    assert relative_half_width([0.0] * 100) == math.inf


@given(st.lists(positive, min_size=1))
def test_the_geometric_mean_lies_among_the_values(values: list[float]) -> None:
    mean = geometric_mean(values)
    assert min(values) * (1 - 1e-9) <= mean <= max(values) * (1 + 1e-9)
    assert mean == pytest.approx(reference.geometric_mean(values))


def test_the_geometric_mean_survives_what_a_product_does_not() -> None:
    assert geometric_mean([1e-300] * 10) == pytest.approx(1e-300)


@pytest.mark.parametrize("values", [[], [0.0, 1.0], [-1.0], [math.nan], [math.inf]])
def test_a_geometric_mean_of_what_is_no_time_is_nan(values: list[float]) -> None:
    assert math.isnan(geometric_mean(values))


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        summarise([])


def test_one_call_that_waited_is_not_the_end_of_the_interval_of_sessions_that_differ() -> None:
    """By the ranks of all samples it would be, because the 27 are worth fewer than six independent ones."""
    waited = [3424.0, 166, 131, 138, 146, 180, 139, 149, 147]
    others = [81.0, 93, 73, 72, 53, 55, 88, 97, 64], [54.0, 65, 51, 55, 51, 55, 76, 95, 94]
    whole = summarise([*waited, *others[0], *others[1]])
    assert (whole.ci_low, whole.ci_high) == (51, 3424)
    assert interval_of_sessions([waited, *others]) == (51, 180)


@given(st.lists(st.lists(positive, min_size=1, max_size=30), min_size=1, max_size=5))
def test_the_interval_of_sessions_is_within_their_samples(sessions: list[list[float]]) -> None:
    low, high = interval_of_sessions(sessions)
    samples = [sample for session in sessions for sample in session]
    assert min(samples) <= low <= high <= max(samples)
    assert interval_of_sessions(sessions[:1]) == (summarise(sessions[0]).ci_low, summarise(sessions[0]).ci_high)
