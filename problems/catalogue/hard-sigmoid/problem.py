"""The hard sigmoid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.definition import Case, Difficulty, Tolerance


class HardSigmoid(Elementwise):
    """`(x + 3) / 6`, cut off at 0 and 1."""

    slug = "hard-sigmoid"
    title = "Hard Sigmoid"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (|x| / 6 + 1 / 2), with |x| at most 3: the scaling and the shift may each round.",
    )
    flops_per_element = 3.0
    scale = 2.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.clip((x + 3.0) / 6.0, 0.0, 1.0)

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.minimum(np.abs(x), 3.0) / 6.0 + 0.5


PROBLEM = HardSigmoid()
