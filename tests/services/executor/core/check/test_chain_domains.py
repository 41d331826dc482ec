from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.domain import ANY, Domain
from problems.kit.planting import planted
from problems.library.catalogue import Catalogue
from services.executor.core.call.layout import LinkRule, RuleKind
from services.executor.core.check.chain_arithmetic import remade
from services.executor.core.check.chain_domains import free_bits, within_blocks
from services.executor.core.check.chain_rules import confined, link_rules

PIXELS, PROBABILITIES = Domain(0.0, 255.0), Domain(2.0**-10, 1.0)
DTYPES = [np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
keys = st.integers(0, 2**64 - 1)
bounds = st.floats(-1e4, 1e4, width=16, allow_subnormal=False)


def links(array: np.ndarray[Any, Any], domain: Domain, key: int) -> np.ndarray[Any, Any]:
    """The values of a chain's link for an array that was brought into blocks."""
    info: Any = ml_dtypes.finfo(array.dtype)
    exponents = ((1 << info.nexp) - 1) << info.nmant
    rule = LinkRule(RuleKind.FLIP_BITS, (1 << free_bits(array.dtype, domain)) - 1, exponents)
    return remade(within_blocks(array, domain), rule, key, 0).astype(np.float64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("domain", [PIXELS, PROBABILITIES, Domain(-0.3, 0.7), Domain(0.1, 0.9), Domain(-9.0, -0.7)])
@given(key=keys, seed=st.integers(0, 2**32))
def test_no_link_leaves_the_domain(dtype: np.dtype[Any], domain: Domain, key: int, seed: int) -> None:
    values = np.random.default_rng(seed).uniform(domain.low, domain.high, 300)
    values[:2] = domain.low, domain.high
    made = links(values.astype(dtype), domain, key)
    # Values may reach the bounds themselves, rounded to the type.
    low, high = np.array([domain.low, domain.high]).astype(dtype).astype(np.float64)
    assert ((made >= low) & (made <= high) | (made == 0)).all(), (made.min(), made.max())


@given(key=keys, low=bounds, high=bounds)
def test_no_link_leaves_any_domain_that_holds_a_few_blocks(key: int, low: float, high: float) -> None:
    if not low + abs(low) / 4 + abs(high) / 4 < high:
        return
    domain = Domain(low, high)
    made = links(np.linspace(low, high, 50).astype(np.float32), domain, key)
    assert ((made >= np.float32(low)) & (made <= np.float32(high)) | (made == 0)).all()


def test_bounds_take_away_as_few_bits_as_they_can() -> None:
    assert free_bits(np.dtype(np.float32), ANY) == 23
    assert free_bits(np.dtype(np.float32), PROBABILITIES) == 23
    assert free_bits(np.dtype(np.float32), PIXELS) == 16
    assert free_bits(np.dtype(np.float32), Domain(0.0, 0.1)) == 12
    assert free_bits(np.dtype(ml_dtypes.bfloat16), PIXELS) == 4


def test_what_lies_inside_stays_as_it_is() -> None:
    values = np.array([0.0, 0.25, 17.0, 254.9, -0.0], np.float32)
    assert within_blocks(values, PIXELS).tobytes() == values.tobytes()
    assert within_blocks(np.array([255.0], np.float32), PIXELS) < 255
    assert within_blocks(values, ANY).tobytes() == values.tobytes()


@pytest.mark.parametrize("slug", ["kl-loss", "grayscale", "box-blur", "edge-detect"])
def test_bounded_inputs_of_the_catalogue_stay_legal_along_a_chain(slug: str) -> None:
    problem = Catalogue.load().get(slug).problem
    for seed in range(20):
        rng = np.random.default_rng(seed)
        inputs = planted(problem, problem.inputs(problem.sizes.cpu[0], rng), rng)
        for name in problem.domains:
            # The highest possible value, which chance gives once in many runs.
            inputs[name].reshape(-1)[seed] = problem.domains[name].high
        rules = link_rules(problem, confined(problem, inputs))
        for at, (name, domain) in enumerate(problem.domains.items()):
            made = remade(confined(problem, inputs)[name], rules[name], seed, at)
            assert rules[name].kind is RuleKind.FLIP_BITS
            assert domain.low <= made[made != 0].min()
            assert made.max() <= domain.high
            assert not np.array_equal(made, inputs[name])
