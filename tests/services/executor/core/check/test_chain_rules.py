from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.chaining import FIXED, MANTISSAS, integers
from problems.kit.signature import Initial
from problems.library.catalogue import Catalogue
from services.executor.core.call.layout import LinkRule, RuleKind
from services.executor.core.check.chain_rules import CannotChainError, link_rules
from tests.services.executor.core.mixed_problem import MixedProblem
from tests.tiers import rotating

if TYPE_CHECKING:
    from collections.abc import Mapping

    from problems.kit.chaining import ChainRule

CATALOGUE = Catalogue.load()
RNG = np.random.default_rng(5)


def _rules(
    signature: str, inputs: Mapping[str, Any], said: Mapping[str, ChainRule] | None = None, *on_host: str
) -> Any:
    problem = type("One", (MixedProblem,), {"chain": said or {}, "signature": f"{signature}, float* y"})()
    problem.__class__.outputs = {"y": Initial.POISON}
    problem.__class__.host_readable = frozenset(on_host)
    return link_rules(problem, inputs)


def test_drawn_floats_get_new_mantissas_and_outputs_start_as_the_problem_says() -> None:
    rules = _rules("const float* x", {"x": RNG.standard_normal((5, 7)).astype(np.float32)})
    assert rules == {"x": LinkRule(RuleKind.FLIP_BITS, 0x7FFFFF, 0x7F800000), "y": LinkRule(RuleKind.POISON)}


@pytest.mark.parametrize(
    ("ctype", "dtype", "mask", "exponents"),
    [
        ("double", np.float64, (1 << 52) - 1, 0x7FF << 52),
        ("half", np.float16, 0x3FF, 0x7C00),
        ("__hip_bfloat16", ml_dtypes.bfloat16, 0x7F, 0x7F80),
    ],
)
def test_every_float_type_has_its_own_masks(ctype: str, dtype: Any, mask: int, exponents: int) -> None:
    rules = _rules(f"const {ctype}* x", {"x": RNG.standard_normal(100).astype(dtype)})
    assert rules["x"] == LinkRule(RuleKind.FLIP_BITS, mask, exponents)


def _symmetric() -> np.ndarray[Any, Any]:
    half = RNG.standard_normal((6, 6)).astype(np.float32)
    return half + half.T


@pytest.mark.parametrize(
    "array",
    [
        np.sort(RNG.standard_normal(50).astype(np.float32)),
        -np.sort(RNG.standard_normal(50).astype(np.float32)),
        np.full(20, 0.1, np.float32),
        _symmetric(),
        _symmetric().reshape(-1),
        np.stack([_symmetric(), _symmetric()]),
        RNG.integers(0, 300, 64).astype(np.float32),
        np.array([0.3], np.float32),
        np.zeros(0, np.float32),
    ],
    ids=["sorted", "descending", "constant", "symmetric", "flat", "pile", "wholes", "one", "none"],
)
def test_what_hangs_together_stays_as_it_is(array: Any) -> None:
    rules = _rules("const float* x, const float* free", {"x": array, "free": RNG.random(9, np.float32)})
    assert rules["x"] == LinkRule(RuleKind.FIXED)
    with pytest.raises(CannotChainError, match=r"Problem\.chain"):
        _rules("const float* x", {"x": array})


def test_integers_move_along_only_where_no_float_changes() -> None:
    indices = RNG.permutation(50).astype(np.int32)
    floats = RNG.random(9, np.float32)
    assert _rules("const int* i", {"i": indices})["i"].kind is RuleKind.ROLL
    assert _rules("const int* i, const float* x", {"i": indices, "x": floats})["i"].kind is RuleKind.FIXED
    with pytest.raises(CannotChainError):
        _rules("const int* i", {"i": np.arange(50, dtype=np.int32)})


def test_what_the_problem_says_goes_before_looks() -> None:
    values = RNG.random((2, 9), np.float32)
    said = {"x": integers(0, 10), "i": integers(-3, 4)}
    inputs = {"x": values[0], "z": values[1], "i": np.arange(5, dtype=np.int32)}
    rules = _rules("const float* x, const float* z, const int* i", inputs, said)
    assert rules["x"] == LinkRule(RuleKind.WHOLES, 0, 10)
    assert rules["z"].kind is RuleKind.FLIP_BITS
    assert rules["i"] == LinkRule(RuleKind.INTEGERS, 2**64 - 3, 7)
    with pytest.raises(CannotChainError):
        _rules("const float* x", {"x": values[0]}, {"x": FIXED})


def test_an_input_that_may_be_written_is_copied_anew() -> None:
    said = {"w": FIXED, "x": MANTISSAS}
    rules = _rules("float* w, const float* x", {"w": RNG.random(9, np.float32), "x": RNG.random(9, np.float32)}, said)
    assert rules["w"].kind is RuleKind.COPY


def test_what_the_host_may_read_does_not_change() -> None:
    inputs = {"shape": np.array([7, 3, 5], np.int32), "x": RNG.random(9, np.float32)}
    assert _rules("const int* shape, const float* x", inputs, None, "shape")["shape"].kind is RuleKind.FIXED
    with pytest.raises(CannotChainError):
        _rules("const int* shape", {"shape": inputs["shape"]}, None, "shape")


@given(st.integers(-(2**40), 2**40), st.integers(-3, 2**33))
def test_a_range_that_cannot_be_drawn_from_is_refused(low: int, count: int) -> None:
    if 0 < count <= 2**32:
        assert integers(low, low + count).high == low + count
    else:
        with pytest.raises(ValueError, match="give at most"):
            integers(low, low + count)


@pytest.mark.parametrize("slug", rotating(entry.problem.slug for entry in CATALOGUE.entries()))
def test_every_problem_of_the_catalogue_has_inputs_that_can_change(slug: str) -> None:
    """Without a chain, nothing stops a runner from answering before it has worked."""
    problem = CATALOGUE.get(slug).problem
    for case in sorted(problem.sizes.cpu, key=problem.bytes)[:2]:
        rules = link_rules(problem, problem.inputs(case, np.random.default_rng(3)))
        kinds = {rules[p.name].kind for p in problem.parameters if p.pointer and not p.output}
        assert kinds - {RuleKind.FIXED, RuleKind.COPY}
