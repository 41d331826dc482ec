"""Huber loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.losses import ElementwiseLoss
from problems.kit.definition import Case, Difficulty, Tolerance
from problems.kit.domain import ANY, Domain


class HuberLoss(ElementwiseLoss):
    """`d^2 / 2` where `d = |p - t|` is below 1, else `d - 1 / 2`."""

    slug = "huber-loss"
    title = "Huber Loss"
    domains: ClassVar[Mapping[str, Domain]] = {"predictions": ANY, "targets": ANY}
    difficulty = Difficulty.EASY
    tags = ("loss", "element-wise")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        3.0, "3 units of eps * loss: the difference rounds, its square doubles that, and each further step rounds once."
    )
    flops_per_element = 5.0

    def draw(self, case: Case, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self.sampled("predictions", case, rng, spike=64.0), self.sampled("targets", case, rng, spike=64.0)

    def loss(self, p: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.abs(p - t) < 1.0, np.square(p - t) / 2.0, np.abs(p - t) - 0.5)


PROBLEM = HuberLoss()
