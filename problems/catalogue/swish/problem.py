"""Swish, also called SiLU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.chaining import ROLL, ChainRule
from problems.kit.definition import Case, Difficulty, Tolerance


class Swish(Elementwise):
    """`x / (1 + exp(-x))`."""

    slug = "swish"
    title = "Swish"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        8.0,
        "8 units of eps * |y| * (1 + |x| * (1 - s)), s the sigmoid of x: each step of the formula may round, and a "
        "fast exponential may take x off by an eps of itself.",
    )
    flops_per_element = 5.0
    scale = 4.0
    spike = 16.0
    limit = 80.0
    # New mantissas would go beyond the limit.
    chain: ClassVar[Mapping[str, ChainRule]] = {"input": ROLL}

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return x / (1.0 + np.exp(-x))

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.abs(y) * (1.0 + np.abs(x) / (1.0 + np.exp(x)))


PROBLEM = Swish()
