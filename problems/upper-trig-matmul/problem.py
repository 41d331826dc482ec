"""Multiplication of upper triangular matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.matrix_products import TriangularProduct

if TYPE_CHECKING:
    from numpy.typing import NDArray


class UpperTrigMatmul(TriangularProduct):
    """`C = A B` with nothing below the diagonal of A, B and C."""

    slug = "upper-trig-matmul"
    title = "Upper Triangular Matrix Multiplication"

    def triangle(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.triu(values)


PROBLEM = UpperTrigMatmul()
