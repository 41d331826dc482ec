"""Multiplication of lower triangular matrices."""

from __future__ import annotations

from problems.families.matrix_products import TriangularProduct
from problems.kit.distributions import Form


class LowerTrigMatmul(TriangularProduct):
    """`C = A B` with nothing above the diagonal of A, B and C."""

    slug = "lower-trig-matmul"
    title = "Lower Triangular Matrix Multiplication"
    form = Form.LOWER


PROBLEM = LowerTrigMatmul()
