"""Kullback-Leibler divergence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.losses import CPU_CASES, GPU_CASES, ElementwiseLoss
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Sizes, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import Domain
from problems.kit.rounding import EPS

_sparse_case = CaseTemplate("Sparse_targets, {distribution}")
_UNITS = 8.0
_SMALLEST = -10.0
"""Probabilities are at least 2^-10, beside which 1e-10 does not count."""
_CLAMPED = 1e-10
"""Where usual kernels cut numbers off before they take a logarithm."""


class KlLoss(ElementwiseLoss):
    """`t * log(t / p)`, and 0 where the target is 0."""

    slug = "kl-loss"
    title = "KL Divergence"
    domains: ClassVar[Mapping[str, Domain]] = {"predictions": Domain(2.0**_SMALLEST, 1.0), "targets": Domain(0.0, 1.0)}
    difficulty = Difficulty.MEDIUM
    tags = ("loss", "element-wise")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        _UNITS,
        "8 units of eps * t * (1 + |log t| + |log p|): the logarithms may each be taken by a fast intrinsic, the "
        "numbers clamped or shifted by 1e-10. Where t is 0: at most 1e-10 * (24 + |log p|), as such kernels give.",
        # Kernels that shift numbers are below 0 wherever t is 0.
        one_sided=True,
    )
    sizes = Sizes(
        cpu=(*CPU_CASES[:3], _sparse_case(Distribution.UNIFORM, n=32_768)),
        gpu=(*GPU_CASES, _sparse_case(Distribution.UNIFORM, n=1 << 20)),
    )
    flops_per_element = 4.0

    def draw(self, case: Case, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        n, sparse = case["n"], "Sparse_targets" in case.name
        predictions, targets = np.exp2(rng.uniform(_SMALLEST, 0.0, (2, n))).astype(np.float32)
        targets[rng.random(n) < (0.9 if sparse else 0.05)] = 0.0
        return predictions, targets

    def loss(self, p: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(t > 0.0, t * (np.log(np.maximum(t, _CLAMPED)) - np.log(np.maximum(p, _CLAMPED))), 0.0)

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        p, t = (inputs[name].astype(np.float64) for name in ("predictions", "targets"))
        terms = np.log(t + _CLAMPED) - np.log(p + _CLAMPED)
        return {
            "1e-10 added before the logarithms": {"output": t * terms},
            "1e-10 added to the numbers": {"output": (t + _CLAMPED) * terms},
        }

    def magnitude(
        self, p: NDArray[np.float64], t: NDArray[np.float64], loss: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        of_t, of_p = (np.abs(np.log(np.maximum(values, _CLAMPED))) for values in (t, p))
        return np.where(t > 0.0, t * (1.0 + of_t + of_p), _CLAMPED * (of_t + of_p) / (_UNITS * EPS))


PROBLEM = KlLoss()
