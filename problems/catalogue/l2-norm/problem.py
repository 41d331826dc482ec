"""L2 normalization."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from problems.families.normalization import RowNorm


class L2Norm(RowNorm):
    """Each row is divided by the root of the sum of its squares."""

    slug = "l2-norm"
    title = "L2 Normalization"

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.square(x).sum(axis=-1, keepdims=True))


PROBLEM = L2Norm()
