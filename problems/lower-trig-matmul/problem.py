"""Multiplication of lower triangular matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.matrix_products import TriangularProduct

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LowerTrigMatmul(TriangularProduct):
    """`C = A B` with nothing above the diagonal of A, B and C."""

    slug = "lower-trig-matmul"
    title = "Lower Triangular Matrix Multiplication"

    def triangle(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.tril(values)


PROBLEM = LowerTrigMatmul()
