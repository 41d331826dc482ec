"""Multiplication of symmetric matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from problems.definition import Case, Difficulty, Initial, Sizes
from problems.distributions import Distribution
from problems.domain import AS_A_WHOLE
from problems.matrix_products import SquareProduct, square_case

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from problems.domain import Domain


class SymmetricMatmul(SquareProduct):
    """`C = A B` with A and B equal to their transposes; C need not be."""

    slug = "symmetric-matmul"
    title = "Symmetric Matrix Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"input_a": AS_A_WHOLE, "input_b": AS_A_WHOLE}
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

    def draw(self, name: str, shape: tuple[int, ...], case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        values = super().draw(name, shape, case, rng)
        return np.triu(values) + np.triu(values, 1).T


PROBLEM = SymmetricMatmul()
