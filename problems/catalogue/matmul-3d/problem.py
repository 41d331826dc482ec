"""A batch of matrices times one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from problems.families.matrix_products import MatrixProduct, hidden_lengths
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY_SCALE, Domain

_case = CaseTemplate("{n}x{m}x{k} x {k}x{l}, {distribution}")


class Matmul3d(MatrixProduct):
    """`C[i] = A[i] B` for each of n matrices."""

    slug = "matmul-3d"
    title = "3D Tensor-Matrix Multiplication"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY_SCALE, "B": ANY_SCALE}
    difficulty = Difficulty.HARD
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float* C, size_t n, size_t m, size_t k, size_t l"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "n, m, k", "B": "k, l", "C": "n, m, l"}
    sizes = Sizes(
        cpu=(
            _case(3, 32, 48, 64, Distribution.UNIFORM),
            _case(2, 31, 67, 33, Distribution.NORMAL),
            _case(5, 17, 129, 61, Distribution.WIDE),
            _case(1, 65, 65, 65, Distribution.SMALL),
        ),
        gpu=(
            _case(32, 4096, 4096, 4096, Distribution.UNIFORM),
            _case(16, 8192, 8192, 4096, Distribution.NORMAL),
            _case(64, 4096, 4096, 8192, Distribution.WIDE),
            _case(8, 8192, 8192, 8192, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        n, m, k, last = hidden_lengths(size_set, rng, 4)
        return _case(min(n, 31) // 8, m, k, last, any_distribution(rng))


PROBLEM = Matmul3d()
