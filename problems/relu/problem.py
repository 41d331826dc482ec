"""The rectified linear unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.definition import Case, Difficulty
from problems.elementwise import Elementwise
from problems.rounding import EXACT

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Relu(Elementwise):
    """Negative values become 0."""

    slug = "relu"
    title = "ReLU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = EXACT
    flops_per_element = 1.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.maximum(x, 0.0)


PROBLEM = Relu()
