from __future__ import annotations

import math
from itertools import islice
from random import Random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.sim.noise import MODELS


@given(st.sampled_from(sorted(MODELS)), st.integers())
def test_every_factor_is_a_time_and_the_same_seed_gives_the_same(name: str, seed: int) -> None:
    factors = list(islice(MODELS[name](Random(seed)), 50))  # noqa: S311 - a simulation
    assert all(0.9 < factor < 2 and math.isfinite(factor) for factor in factors)
    assert factors == list(islice(MODELS[name](Random(seed)), 50))  # noqa: S311 - a simulation


@pytest.mark.parametrize(("name", "least", "most"), [("quiet", 0, 1e-3), ("skewed", 0, 0.01)])
def test_sessions_of_one_model_differ_little(name: str, least: float, most: float) -> None:
    medians = [median(islice(MODELS[name](Random(seed)), 400)) for seed in range(8)]  # noqa: S311 - a simulation
    assert least <= max(medians) / min(medians) - 1 <= most


def test_the_bimodal_model_has_two_modes() -> None:
    factors = list(islice(MODELS["bimodal"](Random(1)), 1000))  # noqa: S311 - a simulation
    upper = sum(factor > 1.03 for factor in factors)
    assert 200 < upper < 400
