"""The scaled exponential linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.definition import Case, Difficulty, Tolerance
from problems.elementwise import Elementwise

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA = 1.6732632423543772
SCALE = 1.0507009873554805
"""The constants of self-normalizing networks (Klambauer et al. 2017)."""


class Selu(Elementwise):
    """`scale * x` above 0, `scale * alpha * (exp(x) - 1)` below."""

    slug = "selu"
    title = "SELU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        8.0,
        "8 units of eps * |y|, and below 0 of eps * scale * alpha * (1 + |x|) * exp(x) more: exp(x) - 1 may be taken "
        "as it stands, though digits cancel, and a fast exponential may take x off by an eps of itself.",
    )
    flops_per_element = 4.0
    scale = 2.0
    spike = 64.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return SCALE * np.where(x > 0.0, x, ALPHA * np.expm1(np.minimum(x, 0.0)))

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        below = np.minimum(x, 0.0)
        return np.abs(y) + np.where(x > 0.0, 0.0, SCALE * ALPHA * (1.0 - below) * np.exp(below))


PROBLEM = Selu()
