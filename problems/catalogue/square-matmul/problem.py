"""Multiplication of square matrices."""

from __future__ import annotations

from problems.families.matrix_products import SquareProduct


class SquareMatmul(SquareProduct):
    """`C = A B`."""

    slug = "square-matmul"
    title = "Square Matrix Multiplication"


PROBLEM = SquareMatmul()
