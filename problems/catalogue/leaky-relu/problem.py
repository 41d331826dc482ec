"""The leaky rectified linear unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise, alpha_case, hidden_shape
from problems.kit.definition import Case, Difficulty, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE, Domain


class LeakyRelu(Elementwise):
    """Negative values are scaled by `alpha`."""

    slug = "leaky-relu"
    title = "Leaky ReLU"
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* input, float alpha, float* output, size_t n, size_t m"
    tolerance = Tolerance(1.0, "1 unit of eps * |output|: one fp32 product, correctly rounded, errs by half of that.")
    sizes = Sizes(
        cpu=(
            alpha_case(256, 192, 0.01, Distribution.NORMAL),
            alpha_case(257, 127, 0.1, Distribution.WIDE),
            alpha_case(1, 4099, 0.05, Distribution.SMALL),
            alpha_case(320, 256, 0.2, Distribution.UNIFORM),
        ),
        gpu=(
            alpha_case(4096, 4096, 0.01, Distribution.NORMAL),
            alpha_case(4096, 4096, 0.05, Distribution.WIDE),
            alpha_case(4096, 4096, 0.1, Distribution.SMALL),
            alpha_case(4096, 4096, 0.2, Distribution.UNIFORM),
            alpha_case(6144, 4096, 0.01, Distribution.NORMAL),
            alpha_case(6144, 4096, 0.05, Distribution.LARGE),
            alpha_case(6144, 4096, 0.1, Distribution.WIDE),
            alpha_case(6144, 4096, 0.2, Distribution.UNIFORM),
        ),
    )
    flops_per_element = 1.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        alpha = float(rng.choice((0.01, 0.02, 0.07, 0.3)))
        distribution = Distribution(str(rng.choice([Distribution.NORMAL, Distribution.WIDE, Distribution.LARGE])))
        return alpha_case(*hidden_shape(size_set, rng), alpha, distribution)

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.where(x > 0.0, x, x * self.scalars(case)["alpha"])


PROBLEM = LeakyRelu()
