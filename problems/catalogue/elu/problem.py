"""The exponential linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from problems.families.elementwise import Elementwise, hidden_shape, matrix_case
from problems.kit.definition import Case, Difficulty, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Elu(Elementwise):
    """`x` above 0, `alpha * (exp(x) - 1)` below."""

    slug = "elu"
    title = "ELU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input, float* output, size_t n, size_t m, float alpha"
    tolerance = Tolerance(
        8.0,
        "8 units of eps * |y|, and below 0 of eps * alpha * (1 + |x|) * exp(x) more: exp(x) - 1 may be taken as it "
        "stands, though digits cancel, and a fast exponential may take x off by an eps of itself.",
    )
    sizes = Sizes(
        cpu=(
            matrix_case(256, 384, Distribution.NORMAL, alpha=1.0),
            matrix_case(509, 127, Distribution.WIDE, alpha=0.5),
            matrix_case(1, 4099, Distribution.SMALL, alpha=1.0),
            matrix_case(256, 256, Distribution.UNIFORM, alpha=2.0),
        ),
        gpu=(
            matrix_case(4096, 4096, Distribution.NORMAL, alpha=1.0),
            matrix_case(6144, 4096, Distribution.UNIFORM, alpha=1.0),
            matrix_case(4096, 7168, Distribution.WIDE, alpha=1.0),
            matrix_case(4096, 8192, Distribution.SMALL, alpha=1.0),
            matrix_case(8192, 8192, Distribution.NORMAL, alpha=1.0),
        ),
    )
    flops_per_element = 3.0
    scale = 2.0
    spike = 64.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        alpha = float(rng.choice((0.5, 1.0, 1.5)))
        return matrix_case(*hidden_shape(size_set, rng), any_distribution(rng), alpha=alpha)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {**super().inputs(case, rng), "alpha": case.values["alpha"]}

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.where(x > 0.0, x, case.values["alpha"] * np.expm1(np.minimum(x, 0.0)))

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        below = np.minimum(x, 0.0)
        return np.abs(y) + np.where(x > 0.0, 0.0, case.values["alpha"] * (1.0 - below) * np.exp(below))


PROBLEM = Elu()
