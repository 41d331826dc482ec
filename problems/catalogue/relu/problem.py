"""The rectified linear unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.definition import Case, Difficulty
from problems.kit.domain import ANY_SCALE, Domain
from problems.kit.rounding import EXACT


class Relu(Elementwise):
    """Negative values become 0."""

    slug = "relu"
    title = "ReLU"
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY_SCALE}
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = EXACT
    flops_per_element = 1.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.maximum(x, 0.0)


PROBLEM = Relu()
