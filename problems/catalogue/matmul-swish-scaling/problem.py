"""A matrix product with swish, scaled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import MatrixProduct, hidden_lengths, swish, swish_condition
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution

_case = CaseTemplate("{M}x{K} x {K}x{N}, {distribution}")


class MatmulSwishScaling(MatrixProduct):
    """`scale * swish(A B)`."""

    slug = "matmul-swish-scaling"
    title = "Matrix Multiplication, Swish and Scaling"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float scale, float* output, size_t M, size_t N, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "M, K", "B": "K, N", "output": "M, N"}
    sizes = Sizes(
        cpu=(
            _case(96, 128, 64, Distribution.UNIFORM, scale=0.5),
            _case(31, 257, 33, Distribution.NORMAL, scale=1.414),
            _case(65, 65, 127, Distribution.WIDE, scale=2.0),
            _case(5, 509, 61, Distribution.SMALL, scale=0.707),
        ),
        gpu=(
            _case(512, 512, 512, Distribution.UNIFORM, scale=0.5),
            _case(1024, 1024, 512, Distribution.NORMAL, scale=1.414),
            _case(512, 512, 1024, Distribution.WIDE, scale=2.0),
            _case(1024, 1024, 1024, Distribution.SMALL, scale=0.707),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, k, n, scale=float(rng.choice((0.25, 1.0, 3.0))), distribution=any_distribution(rng))

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return inputs["scale"] * swish(product)

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        return abs(inputs["scale"]) * swish_condition(condition, product)


PROBLEM = MatmulSwishScaling()
