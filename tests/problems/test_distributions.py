from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.kit.distributions import (
    DRAWN_IN_STRETCHES,
    TILE_ELEMENTS,
    Distribution,
    SizesOnly,
    Unmade,
    any_distribution,
    recipe_of,
    sample,
    scaled,
    spike_count,
    spike_places,
)
from problems.kit.threads import threads_allowed
from problems.library.catalogue import Catalogue

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


@pytest.mark.parametrize(
    "asked",
    [
        np.asarray,
        np.abs,
        np.sort,
        np.where,
        len,
        bool,
        hash,
        lambda values: values + 1,
        lambda values: values == 0,
        lambda values: np.zeros(3) == values,
        lambda values: values.astype(np.float16),
    ],
)
def test_an_array_without_values_has_a_shape_and_nothing_that_could_be_taken_for_a_value(
    asked: Callable[[object], object],
) -> None:
    array = scaled(sample(Distribution.WIDE, (2**40, 3), SizesOnly(np.random.PCG64(0))), 2.0)
    assert isinstance(array, Unmade)
    assert array.shape == (2**40, 3)
    with pytest.raises((AttributeError, TypeError)):
        asked(array)


def test_inputs_without_values_have_the_shapes_and_recipes_of_those_with_values(catalogue: Catalogue) -> None:
    """Covers only the problems that do not compute with the values they draw."""
    asked = 0
    for slug in catalogue.problems:
        problem = catalogue.get(slug).problem
        case = problem.sizes.cpu[0]
        try:
            unmade = problem.inputs(case, SizesOnly(np.random.PCG64(0)))
        except (AttributeError, TypeError):
            continue
        asked += 1
        made = problem.inputs(case, np.random.default_rng(0))
        for name, value in made.items():
            one = unmade[name]
            assert (one.shape if isinstance(one, Unmade) else np.shape(one)) == np.shape(value), (slug, name)
            assert recipe_of(one) == recipe_of(value), (slug, name)
    assert asked > 60


@pytest.mark.parametrize("kind", Distribution)
def test_a_recipe_tells_the_root_mean_square_before_anything_is_drawn(kind: Distribution) -> None:
    values = scaled(sample(kind, (1 << 20,), np.random.default_rng(0)), 4.0)
    recipe = recipe_of(values)
    assert recipe is not None
    measured = float(np.sqrt(np.mean(np.square(np.asarray(values), dtype=np.float64))))
    assert recipe.root_mean_square == pytest.approx(measured, rel=0.1)


def test_several_threads_draw_what_one_does_and_no_two_arrays_or_stretches_are_alike() -> None:
    shape, generator = (DRAWN_IN_STRETCHES + 5,), np.random.default_rng(3)
    by_one = sample(Distribution.UNIFORM, shape, generator)
    another = sample(Distribution.UNIFORM, shape, generator)
    with threads_allowed(3):
        assert np.array_equal(by_one, sample(Distribution.UNIFORM, shape, np.random.default_rng(3)))
    begins = np.concatenate([values[:: 1 << 21][:8] for values in (by_one, another)])
    assert len(np.unique(begins)) == 16
