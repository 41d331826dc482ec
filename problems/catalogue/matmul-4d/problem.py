"""A tensor of four dimensions times a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from problems.families.matrix_products import MatrixProduct, hidden_lengths
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain

_case = CaseTemplate("{b}x{i}x{j}x{l} x {l}x{k}, {distribution}")


class Matmul4d(MatrixProduct):
    """`C = A B` along the last dimension of A."""

    slug = "matmul-4d"
    title = "4D Tensor-Matrix Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY_SCALE, "B": ANY_SCALE}
    difficulty = Difficulty.HARD
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float* C, size_t b, size_t i, size_t j, size_t l, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "b, i, j, l", "B": "l, k", "C": "b, i, j, k"}
    sizes = Sizes(
        cpu=(
            _case(2, 4, 8, 48, 64, Distribution.UNIFORM),
            _case(1, 3, 11, 67, 33, Distribution.NORMAL),
            _case(3, 2, 5, 129, 61, Distribution.WIDE),
            _case(2, 2, 17, 32, 96, Distribution.SMALL),
        ),
        gpu=(
            _case(16, 256, 512, 256, 768, Distribution.UNIFORM),
            _case(8, 128, 256, 128, 512, Distribution.NORMAL),
            _case(32, 64, 128, 64, 256, Distribution.WIDE),
            _case(4, 32, 64, 32, 128, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        b, i, j, last, k = hidden_lengths(size_set, rng, 5)
        return _case(b % 3 + 1, i % 5 + 1, j % 11 + 1, last, k, any_distribution(rng))


PROBLEM = Matmul4d()
