"""Where tolerances come from: one rule for every sum.

The fp32 error of a sum of n terms, added in whatever order, wanders like sqrt(n): one running accumulator errs by about
0.2 * eps * sqrt(n) * (the sum of the terms' absolute values), trees and blocks by much less. Two units of that pass
every fp32 order, with or without fused multiply-add; terms or accumulators of half precision exceed them.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.definition import Tolerance

EPS = float(np.finfo(np.float32).eps)
"""The spacing of float32 at 1: what units are multiplied by."""

EXACT = Tolerance(0.0, "The output must equal the reference.")
SUM = Tolerance(2.0, "2 units of eps * sqrt(n) * (sum of the n terms' absolute values): any order of fp32 additions.")


def sum_condition(absolute_sum: NDArray[Any], terms: int) -> NDArray[Any]:
    """What the rounding errors of a sum of `terms` terms scale with."""
    return sqrt(terms) * absolute_sum
