"""Multiplication of square matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from problems.definition import Difficulty, Initial, Sizes
from problems.distributions import Distribution
from problems.matrix_products import SquareProduct, square_case

if TYPE_CHECKING:
    from collections.abc import Mapping


class SquareMatmul(SquareProduct):
    """`C = A B`."""

    slug = "square-matmul"
    title = "Square Matrix Multiplication"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    outputs: ClassVar[Mapping[str, Initial]] = {"output_c": Initial.ZERO}
    sizes = Sizes(
        cpu=(
            square_case(128, Distribution.UNIFORM),
            square_case(127, Distribution.NORMAL),
            square_case(65, Distribution.WIDE),
            square_case(96, Distribution.SMALL),
        ),
        gpu=(
            square_case(4096, Distribution.UNIFORM),
            square_case(6144, Distribution.NORMAL),
            square_case(7168, Distribution.WIDE),
            square_case(8192, Distribution.SMALL),
            square_case(9216, Distribution.POSITIVE),
        ),
    )


PROBLEM = SquareMatmul()
