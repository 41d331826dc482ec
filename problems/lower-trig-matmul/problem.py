"""Multiplication of lower triangular matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from problems.definition import Case, Difficulty, Initial, Sizes
from problems.distributions import Distribution
from problems.matrix_products import SquareProduct, square_case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class LowerTrigMatmul(SquareProduct):
    """`C = A B` with nothing above the diagonal of A, B and C."""

    slug = "lower-trig-matmul"
    title = "Lower Triangular Matrix Multiplication"
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
            square_case(2048, Distribution.UNIFORM),
            square_case(4096, Distribution.NORMAL),
            square_case(6144, Distribution.WIDE),
            square_case(8192, Distribution.SMALL),
        ),
    )

    def draw(self, name: str, shape: tuple[int, ...], case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        return np.tril(super().draw(name, shape, case, rng))

    def flops(self, case: Case) -> float:
        # Of each row of C only one side of the diagonal is computed, from the terms that are not 0.
        n = case.values["n"]
        return n * (n + 1) * (n + 2) / 3.0


PROBLEM = LowerTrigMatmul()
