"""The exponential linear unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise, alpha_case, hidden_shape
from problems.kit.definition import Case, Difficulty, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution, any_distribution


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
            alpha_case(256, 384, 1.0, Distribution.NORMAL),
            alpha_case(509, 127, 0.5, Distribution.WIDE),
            alpha_case(1, 4099, 1.0, Distribution.SMALL),
            alpha_case(256, 256, 2.0, Distribution.UNIFORM),
        ),
        gpu=(
            alpha_case(4096, 4096, 1.0, Distribution.NORMAL),
            alpha_case(6144, 4096, 1.0, Distribution.UNIFORM),
            alpha_case(4096, 7168, 1.0, Distribution.WIDE),
            alpha_case(4096, 8192, 1.0, Distribution.SMALL),
            alpha_case(8192, 8192, 1.0, Distribution.NORMAL),
        ),
    )
    flops_per_element = 3.0
    scale = 2.0
    spike = 64.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        alpha = float(rng.choice((0.5, 1.0, 1.5)))
        return alpha_case(*hidden_shape(size_set, rng), alpha, any_distribution(rng))

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.where(x > 0.0, x, case["alpha"] * np.expm1(np.minimum(x, 0.0)))

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        below = np.minimum(x, 0.0)
        return np.abs(y) + np.where(x > 0.0, 0.0, case["alpha"] * (1.0 - below) * np.exp(below))


PROBLEM = Elu()
