from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.distributions import TILE_ELEMENTS, Distribution, any_distribution, sample, spike_count, spike_places

KINDS = st.sampled_from(list(Distribution))
SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.lists(st.integers(1, 40), min_size=1, max_size=3).map(tuple)


@settings(deadline=None)
@given(KINDS, SHAPES, SEEDS)
def test_values_are_finite_floats_of_the_shape_and_come_from_the_seed_alone(
    kind: Distribution, shape: tuple[int, ...], seed: int
) -> None:
    values = sample(kind, shape, np.random.default_rng(seed))
    assert (values.shape, values.dtype) == (shape, np.float32)
    assert np.isfinite(values).all()
    assert np.array_equal(values, sample(kind.value, shape, np.random.default_rng(seed)))


@settings(deadline=None)
@given(st.integers(1, 200_000), SEEDS)
def test_a_spike_always_lies_in_the_last_tile(size: int, seed: int) -> None:
    places = spike_places(size, np.random.default_rng(seed))
    assert places.size == spike_count(size) > 0
    assert places[-1] >= size - TILE_ELEMENTS
    assert places.min() >= 0
    assert places.max() < size


@pytest.mark.parametrize("kind", list(Distribution))
def test_spikes_stand_out_of_their_distribution(kind: Distribution) -> None:
    size = 50_000
    values = np.abs(sample(kind, (size,), np.random.default_rng(2)))
    ordinary = np.sort(values)[: size - spike_count(size)]
    assert ordinary.max() < values[-TILE_ELEMENTS:].max()


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (Distribution.UNIFORM, -1.0, 1.0),
        (Distribution.POSITIVE, 0.0, 1.0),
        (Distribution.WIDE, -1024.0, 1024.0),
        (Distribution.SMALL, -7e-3, 7e-3),
        (Distribution.LARGE, -7e3, 7e3),
    ],
)
def test_ordinary_values_fill_their_range(kind: Distribution, low: float, high: float) -> None:
    values = sample(kind, (100_000,), np.random.default_rng(8), spike=1.0)
    assert low <= values.min() < low + 0.5 * (high - low)
    assert high - 0.5 * (high - low) < values.max() <= high


def test_every_distribution_can_be_drawn() -> None:
    rng = np.random.default_rng(1)
    assert {any_distribution(rng) for _ in range(200)} == set(Distribution)
