"""The logistic sigmoid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.definition import Case, Difficulty, Tolerance


class Sigmoid(Elementwise):
    """`1 / (1 + exp(-x))`."""

    slug = "sigmoid"
    title = "Sigmoid"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        8.0,
        "8 units of eps * y * (1 + |x| * (1 - y)): each step of the formula may round, and a fast exponential may "
        "take x off by an eps of itself.",
    )
    flops_per_element = 4.0
    scale = 4.0
    spike = 64.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        decay = np.exp(-np.abs(x))
        return np.where(x < 0.0, decay, 1.0) / (1.0 + decay)

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return y * (1.0 + np.abs(x) * (1.0 - y))


PROBLEM = Sigmoid()
