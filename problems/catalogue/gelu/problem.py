"""The Gaussian error linear unit."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.families.elementwise import Elementwise
from problems.kit.definition import Case, Difficulty, Tolerance
from problems.kit.rounding import EPS

_UNITS = 8.0


class Gelu(Elementwise):
    """`x * (1 + erf(x / sqrt 2)) / 2`, or its usual approximation by tanh."""

    slug = "gelu"
    title = "GELU"
    difficulty = Difficulty.EASY
    tags = ("element-wise", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        _UNITS,
        "8 units of eps * |x|, plus the distance between the erf form and the tanh form at that x (at most 4.8e-4): "
        "both forms pass, cheaper ones do not.",
        one_sided=True,
    )
    flops_per_element = 8.0
    scale = 2.0

    def apply(self, x: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        # scipy is a tenth of a second to import: only where it is needed.
        from scipy.special import erfc  # noqa: PLC0415 - see above

        return 0.5 * x * erfc(-x / sqrt(2.0))

    def alternatives(self, case: Case, inputs: Mapping[str, Any]) -> Mapping[str, Mapping[str, NDArray[Any]]]:
        return {"the tanh form": {"output": _tanh_form(inputs["input"].astype(np.float64))}}

    def magnitude(self, x: NDArray[np.float64], y: NDArray[np.float64], case: Case) -> NDArray[np.float64]:
        return np.abs(x) + np.abs(_tanh_form(x) - y) / (_UNITS * EPS)


def _tanh_form(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * x * (1.0 + np.tanh(sqrt(2.0 / pi) * (x + 0.044715 * x**3)))


PROBLEM = Gelu()
