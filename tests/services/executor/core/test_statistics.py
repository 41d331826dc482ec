from __future__ import annotations

import math
import random
import statistics as reference

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.statistics import geometric_mean, median_ranks, relative_half_width, summarise

positive = st.floats(1e-9, 1e9)


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
def test_the_order_of_samples_does_not_matter(samples: list[float]) -> None:
    assert summarise(samples) == summarise(sorted(samples, reverse=True))


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
