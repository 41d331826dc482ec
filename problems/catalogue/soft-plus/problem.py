"""Softplus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.chaining import ROLL, ChainRule
from problems.kit.definition import Case, Difficulty, Tolerance


class SoftPlus(Elementwise):
    """`log(1 + exp(x))`."""

    slug = "soft-plus"
    title = "Softplus"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        8.0,
        "8 units of eps * (y + |x| * s + 1 - s), s the sigmoid of x: log(1 + exp(x)) may be taken as it stands, where "
        "1 + exp(x) rounds, and a fast exponential may take x off by an eps of itself.",
    )
    flops_per_element = 4.0
    scale = 4.0
    spike = 16.0
    limit = 80.0
    # New mantissas would go beyond the limit.
    chain: ClassVar[Mapping[str, ChainRule]] = {"input": ROLL}

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.logaddexp(0.0, x)

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        # The rounding of 1 + exp(x) is an eps of 1 where exp(x) is small.
        return y + np.abs(x) / (1.0 + np.exp(-x)) + 1.0 / (1.0 + np.exp(x))


PROBLEM = SoftPlus()
