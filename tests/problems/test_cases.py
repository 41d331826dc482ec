from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty
from problems.kit.distributions import Distribution
from problems.kit.rounding import EXACT
from problems.library.variants import variant_of

PRODUCT = CaseTemplate("{m}x{k} x {k}x{n}, scale={scale:g}, {distribution}")


class Blocks(Elementwise):
    """Reads a matrix and the scales of its blocks, and writes a matrix and a number."""

    slug = "blocks"
    title = "Blocks"
    difficulty = Difficulty.EASY
    dtypes = ("float32", "float16")
    tolerance = EXACT
    flops_per_element = 1.0
    signature = (
        "const float* input, const uint8_t* scales, float limit, const size_t* shape, float* output, float* total, "
        "size_t n, size_t m"
    )
    outputs: ClassVar[Mapping[str, Any]] = {"total": "zero", "output": "poison"}
    host_readable = frozenset({"shape"})
    arrays: ClassVar[Mapping[str, str]] = {
        "input": "n, m",
        "scales": "n, ceil_div(m, 16)",
        "output": "n - 1, 2 * m",
        "total": "1",
    }

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return x


CASE = Case("3x17", {"n": 3, "m": 17, "limit": 0.1, "distribution": Distribution.NORMAL})


def test_a_case_is_named_by_its_values_in_the_order_of_the_template() -> None:
    case = PRODUCT(2, 3, 4, 0.5, Distribution.WIDE)
    values = {"m": 2, "k": 3, "n": 4, "scale": 0.5, "distribution": Distribution.WIDE}
    assert case == Case("2x3 x 3x4, scale=0.5, wide", values)
    assert [case["k"], case["distribution"]] == [3, Distribution.WIDE]


def test_values_go_by_name_too_and_a_case_may_have_some_that_its_name_has_not() -> None:
    case = CaseTemplate("n = {n:,}, {distribution}")(5000, distribution=Distribution.SMALL, margin=1.0)
    assert case == Case("n = 5,000, small", {"n": 5000, "distribution": Distribution.SMALL, "margin": 1.0})


@pytest.mark.parametrize(
    ("values", "others"),
    [((2, 3, 4, 0.5), {}), ((2, 3, 4, 0.5, Distribution.WIDE, 7), {}), ((2, 3, 4, 0.5, Distribution.WIDE), {"k": 9})],
    ids=["one too few", "one too many", "one twice"],
)
def test_a_case_with_other_values_than_its_template_is_refused(values: tuple[Any, ...], others: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="takes m, k, n, scale, distribution; it was given"):
        PRODUCT(*values, **others)


def test_a_drawn_case_has_one_of_the_choices_for_each_field() -> None:
    template = CaseTemplate("{n}, {scale}, {distribution}")
    rng = np.random.default_rng(0)
    drawn = [template.draw(rng, (61, 97), (0.5, 1.5), Distribution) for _ in range(200)]
    assert {case["n"] for case in drawn} == {61, 97}
    assert {case["scale"] for case in drawn} == {0.5, 1.5}
    assert {case["distribution"] for case in drawn} == set(Distribution)
    assert {type(case["n"]) for case in drawn} == {int}


def test_shapes_are_expressions_of_the_cases_values() -> None:
    assert Blocks().input_shapes(CASE) == {"input": (3, 17), "scales": (3, 2)}
    assert Blocks().output_shapes(CASE) == {"output": (2, 34), "total": (1,)}


def test_bytes_count_every_array_once_at_its_type_and_not_what_says_sizes() -> None:
    assert Blocks().bytes(CASE) == 4 * 3 * 17 + 3 * 2 + 4 * 2 * 34 + 4
    assert variant_of(Blocks(), "float16").bytes(CASE) == 2 * 3 * 17 + 3 * 2 + 2 * 2 * 34 + 2


def test_a_problem_may_count_its_bytes_itself_in_floats() -> None:
    class Copy(Blocks):
        signature = "const float* input, float* output, size_t n, size_t m"
        outputs: ClassVar[Mapping[str, Any]] = {"output": "poison"}
        host_readable = frozenset()

        def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
            return {"output": (case["n"], case["m"])}

        def bytes(self, case: Case) -> float:
            return 8.0 * case["n"] * case["m"]

    assert Copy().output_shapes(CASE) == {"output": (3, 17)}
    assert variant_of(Copy(), "float16").bytes(CASE) == 4.0 * 3 * 17


def test_scalars_are_the_cases_as_a_kernel_gets_them() -> None:
    assert Blocks().scalars(CASE) == {"limit": float(np.float32(0.1)), "n": 3, "m": 17}
    assert Blocks().scalars(Case("no limit", {"n": 3})) == {"n": 3}


def test_an_input_is_sampled_in_its_own_shape() -> None:
    values = Blocks().sampled("scales", CASE, np.random.default_rng(3), spike=2.0)
    expected = Blocks().sample(Distribution.NORMAL, (3, 2), np.random.default_rng(3), 2.0)
    assert np.array_equal(values, expected)
