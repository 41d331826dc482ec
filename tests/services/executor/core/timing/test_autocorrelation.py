from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.timing.autocorrelation import FEWEST, correlation_time
from services.executor.devices.sim.noise import MODELS


@given(st.lists(st.floats(1e-9, 1e9), max_size=120))
def test_it_lies_between_one_and_the_number_of_samples(samples: list[float]) -> None:
    assert 1 <= correlation_time(samples) <= max(1, len(samples))


@given(st.lists(st.floats(1e-3, 1e3), min_size=FEWEST, max_size=120), st.floats(0.5, 2.0))
def test_it_does_not_depend_on_the_unit(samples: list[float], factor: float) -> None:
    exact = 2.0 ** round(factor)
    assert correlation_time([sample * exact for sample in samples]) == correlation_time(samples)


def test_independent_samples_are_worth_their_number() -> None:
    draw = random.Random(2)  # noqa: S311 - a simulation
    assert correlation_time([draw.expovariate(1) for _ in range(2000)]) < 1.5


def test_repeating_each_sample_makes_it_that_much_longer() -> None:
    draw = random.Random(2)  # noqa: S311 - a simulation
    repeated = [value for value in (draw.random() for _ in range(400)) for _ in range(5)]
    assert correlation_time(repeated) == pytest.approx(5, rel=0.4)


def test_a_regulated_clock_makes_one_sample_of_many() -> None:
    draw = random.Random(2)  # noqa: S311 - a simulation
    assert 10 < correlation_time(list(islice(MODELS["correlated"](draw), 2000))) < 60


def test_too_few_samples_tell_nothing() -> None:
    assert correlation_time([float(value) for value in range(FEWEST - 1)]) == 1
    assert correlation_time([1.0] * 1000) == 1
