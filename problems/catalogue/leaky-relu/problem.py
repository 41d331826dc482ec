"""The leaky rectified linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.elementwise import Elementwise, hidden_shape, matrix_case
from problems.kit.definition import Case, Difficulty, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY_SCALE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from problems.kit.domain import Domain


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
            matrix_case(256, 192, Distribution.NORMAL, alpha=0.01),
            matrix_case(257, 127, Distribution.WIDE, alpha=0.1),
            matrix_case(1, 4099, Distribution.SMALL, alpha=0.05),
            matrix_case(320, 256, Distribution.UNIFORM, alpha=0.2),
        ),
        gpu=(
            matrix_case(4096, 4096, Distribution.NORMAL, alpha=0.01),
            matrix_case(4096, 4096, Distribution.WIDE, alpha=0.05),
            matrix_case(4096, 4096, Distribution.SMALL, alpha=0.1),
            matrix_case(4096, 4096, Distribution.UNIFORM, alpha=0.2),
            matrix_case(6144, 4096, Distribution.NORMAL, alpha=0.01),
            matrix_case(6144, 4096, Distribution.LARGE, alpha=0.05),
            matrix_case(6144, 4096, Distribution.WIDE, alpha=0.1),
            matrix_case(6144, 4096, Distribution.UNIFORM, alpha=0.2),
        ),
    )
    flops_per_element = 1.0

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        alpha = float(rng.choice((0.01, 0.02, 0.07, 0.3)))
        distribution = Distribution(str(rng.choice([Distribution.NORMAL, Distribution.WIDE, Distribution.LARGE])))
        return matrix_case(*hidden_shape(size_set, rng), distribution, alpha=alpha)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {**super().inputs(case, rng), "alpha": _alpha(case)}

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.where(x > 0.0, x, x * _alpha(case))


def _alpha(case: Case) -> float:
    """The slope as the kernel gets it: a float32."""
    return float(np.float32(case.values["alpha"]))


PROBLEM = LeakyRelu()
