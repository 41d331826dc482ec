from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from problems.kit.definition import Problem
from problems.kit.distributions import TILE_ELEMENTS
from problems.kit.domain import ANY, ANY_SCALE, AS_A_WHOLE, Domain
from problems.kit.planting import planted
from problems.library.catalogue import Catalogue
from problems.library.variants import variant_of

DOMAINS = [ANY, ANY_SCALE, AS_A_WHOLE, Domain(0.0, 1.0), Domain(-4.0, 2.0), Domain(high=100.0)]


class Stated:
    """The part of a problem that planting uses."""

    def __init__(self, domain: Domain | None, dtype: str = "float32") -> None:
        self.domains = {} if domain is None else {"x": domain}
        self.dtype = dtype


def after(array: NDArray[Any], domain: Domain | None, seed: int, dtype: str = "float32") -> Any:
    problem: Any = Stated(domain, dtype)
    return planted(problem, {"x": array, "n": array.size}, np.random.default_rng(seed))["x"]


@given(st.integers(0, 2**32), st.integers(1, 20_000), st.sampled_from(DOMAINS))
@settings(deadline=None, max_examples=60)
def test_planted_values_are_legal_large_and_reach_the_last_tile(seed: int, size: int, domain: Domain) -> None:
    rng = np.random.default_rng(seed)
    low, high = max(domain.low, -8.0), min(domain.high, 8.0)
    drawn = rng.uniform(low, high, size).astype(np.float32)
    made = after(drawn, domain, seed)
    assert (made.shape, made.dtype) == (drawn.shape, drawn.dtype)
    assert domain.low <= made.min() <= made.max() <= domain.high
    if not domain.spikes:
        return
    # A scale is a power of two: it changes no mantissa.
    changed = np.frexp(made)[0] != np.frexp(drawn)[0]
    assert 0 < changed.sum() <= 3 + size // 8192
    assert changed[-TILE_ELEMENTS:].any()
    if math.isfinite(domain.high):
        assert (made[changed] >= domain.high - 0.1 * (min(domain.high - domain.low, abs(domain.high)) + 6)).all()
    else:
        assert (np.abs(made[changed]) >= 0.49 * np.abs(made).max()).all()


@given(st.integers(0, 2**32), st.floats(1e-6, 1e6))
@settings(deadline=None, max_examples=60)
def test_a_scale_lies_between_a_thousandth_and_a_thousand(seed: int, was: float) -> None:
    drawn = (np.random.default_rng(seed).standard_normal(4096) * was).astype(np.float32)
    size = float(np.sqrt(np.mean(np.square(after(drawn, AS_A_WHOLE, seed), dtype=np.float64))))
    assert 1e-3 / 1.5 < size < 1e3 * 1.5


def test_all_scales_come_up() -> None:
    drawn = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    sizes = [float(np.abs(after(drawn, AS_A_WHOLE, seed)).mean()) for seed in range(200)]
    assert min(sizes) < 1e-2
    assert max(sizes) > 1e2


def test_halfs_keep_their_scale_and_bfloat16_takes_any() -> None:
    drawn = np.random.default_rng(1).standard_normal(100).astype(np.float16)
    assert all(np.array_equal(after(drawn, AS_A_WHOLE, seed, "float16"), drawn) for seed in range(9))
    assert any(not np.array_equal(after(drawn, AS_A_WHOLE, seed, "bfloat16"), drawn) for seed in range(9))


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_zeros_stay_and_so_does_one_sign(seed: int) -> None:
    triangle = np.triu(np.random.default_rng(seed).uniform(0.5, 1.0, (40, 40))).astype(np.float32)
    made = after(triangle, ANY, seed)
    assert np.array_equal(made == 0, triangle == 0)
    assert made.min() >= 0
    assert after(-triangle, ANY, seed).max() <= 0
    assert not after(np.zeros(9, np.float32), ANY_SCALE, seed).any()


def test_inputs_without_a_domain_are_left_alone() -> None:
    drawn = np.random.default_rng(2).standard_normal(9).astype(np.float32)
    assert after(drawn, None, 1) is drawn


@pytest.mark.parametrize("slug", ["symmetric-matmul", "upper-trig-matmul", "hinge-loss", "kl-loss", "histogram"])
def test_what_hangs_together_still_does(catalogue: Catalogue, slug: str) -> None:
    for dtype in ("float32", "bfloat16"):
        problem = catalogue.get(slug).problem
        if dtype in problem.dtypes:
            _check_structure(variant_of(problem, dtype))


def _check_structure(problem: Problem) -> None:
    rng = np.random.default_rng(3)
    drawn = problem.inputs(problem.sizes.cpu[0], rng)
    made = planted(problem, drawn, rng)
    if problem.slug == "symmetric-matmul":
        assert np.array_equal(made["input_a"], made["input_a"].T)
    if problem.slug == "upper-trig-matmul":
        assert np.array_equal(np.triu(made["input_b"]), made["input_b"])
    if problem.slug == "hinge-loss":
        assert set(np.unique(made["targets"].astype(np.float32))) == {-1.0, 1.0}
    if problem.slug == "kl-loss":
        assert np.array_equal(made["targets"] == 0, drawn["targets"] == 0)
    if problem.slug == "histogram":
        assert all(np.array_equal(made[name], drawn[name]) for name in drawn)


@pytest.mark.parametrize(
    ("low", "high", "scales", "said"),
    [(1.0, 1.0, False, "is empty"), (2.0, 1.0, False, "is empty"), (0.0, math.inf, True, "every scale")],
)
def test_a_domain_that_makes_no_sense_is_refused(low: float, high: float, scales: bool, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Domain(low, high, scales=scales)


def test_a_public_case_keeps_its_scale() -> None:
    drawn = np.random.default_rng(1).standard_normal(100).astype(np.float32)
    problem: Any = Stated(AS_A_WHOLE)
    made = planted(problem, {"x": drawn}, np.random.default_rng(1), scales=False)
    assert np.array_equal(made["x"], drawn)


def test_without_a_stated_domain_the_very_mapping_comes_back() -> None:
    """A problem's own mapping may know more than its values: an author's definition keeps its seed there."""
    problem: Any = Stated(None)
    drawn = {"x": np.ones(7), "n": 7}
    assert planted(problem, drawn, np.random.default_rng(1)) is drawn
