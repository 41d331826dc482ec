"""L1 normalization."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.normalization import RowNorm


class L1Norm(RowNorm):
    """Each row is divided by the sum of its absolute values."""

    slug = "l1-norm"
    title = "L1 Normalization"

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(x).sum(axis=-1, keepdims=True)


PROBLEM = L1Norm()
