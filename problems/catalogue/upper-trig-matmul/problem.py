"""Multiplication of upper triangular matrices."""

from __future__ import annotations

from problems.families.matrix_products import TriangularProduct
from problems.kit.distributions import Form


class UpperTrigMatmul(TriangularProduct):
    """`C = A B` with nothing below the diagonal of A, B and C."""

    slug = "upper-trig-matmul"
    title = "Upper Triangular Matrix Multiplication"
    form = Form.UPPER


PROBLEM = UpperTrigMatmul()
