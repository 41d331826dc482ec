"""Hinge loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.losses import ElementwiseLoss
from problems.kit.definition import Case, Difficulty, Tolerance
from problems.kit.distributions import Distribution, Form, formed


class HingeLoss(ElementwiseLoss):
    """`max(0, 1 - p * t)` with targets of -1 and 1."""

    slug = "hinge-loss"
    title = "Hinge Loss"
    difficulty = Difficulty.EASY
    tags = ("loss", "element-wise")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(1.0, "1 unit of eps * loss: the product with -1 or 1 is exact, and one subtraction rounds.")
    flops_per_element = 3.0

    def draw(self, case: Case, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        predictions = self.sampled("predictions", case, rng, spike=64.0)
        return predictions, formed(self.sample(Distribution.UNIFORM, (case["n"],), rng, spike=1.0), Form.SIGNS)

    def loss(self, p: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(0.0, 1.0 - p * t)


PROBLEM = HingeLoss()
