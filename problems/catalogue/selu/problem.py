"""The scaled exponential linear unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.definition import Case, Difficulty, Tolerance
from problems.kit.rounding import EPS

_UNITS = 8.0
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
"""The constants of self-normalizing networks (Klambauer et al. 2017)."""
_ROUNDED_ALPHA, _ROUNDED_SCALE = 1.67326, 1.0507
"""The same as they are often published: up to 24 units of eps away from the output."""


class Selu(Elementwise):
    """`scale * x` above 0, `scale * alpha * (exp(x) - 1)` below."""

    slug = "selu"
    title = "SELU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        _UNITS,
        "8 units of eps * |y|, and below 0 of eps * scale * alpha * (1 + |x|) * exp(x) more: exp(x) - 1 may be taken "
        "as it stands, though digits cancel, and a fast exponential may take x off by an eps of itself. Plus what the "
        "constants 1.0507 and 1.67326 make.",
        # The rounded constants are both too small.
        one_sided=True,
    )
    flops_per_element = 4.0
    scale = 2.0
    spike = 64.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return _selu(x, ALPHA, SCALE)

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        return {"the rounded constants": {"output": _rounded(inputs["input"].astype(np.float64))}}

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        below = np.minimum(x, 0.0)
        of_steps = np.abs(y) + np.where(x > 0.0, 0.0, SCALE * ALPHA * (1.0 - below) * np.exp(below))
        return of_steps + np.abs(_rounded(x) - y) / (_UNITS * EPS)


def _selu(x: NDArray[np.float64], alpha: float, scale: float) -> NDArray[np.float64]:
    return scale * np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0)))


def _rounded(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return _selu(x, _ROUNDED_ALPHA, _ROUNDED_SCALE)


PROBLEM = Selu()
