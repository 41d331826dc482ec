"""The sum of the sigmoids of a matrix product."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import MatrixProduct, hidden_lengths, sigmoid
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution

_case = CaseTemplate("{M}x{K} x {K}x{N}, {distribution}")


class MatmulSigmoidSum(MatrixProduct):
    """The sum over all elements of `sigmoid(A B)`: one number."""

    slug = "matmul-sigmoid-sum"
    title = "Matrix Multiplication, Sigmoid and Sum"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm", "reduction")
    signature = "const float* A, const float* B, float* output, size_t M, size_t N, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "M, K", "B": "K, N", "output": "1"}
    spike = 4.0
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (sum of s * (1 - s) * (sqrt(K) * t + 4 * |z|) + sqrt(M * N) * sum of s), s the sigmoids of "
        "the products z and t the sums of their terms' absolute values: sums in any order, and a fast exponential.",
    )
    sizes = Sizes(
        cpu=(
            _case(64, 96, 48, Distribution.UNIFORM),
            _case(31, 257, 33, Distribution.NORMAL),
            # Few terms, all alike in sign: errors of the inputs add up instead of cancelling.
            _case(257, 2, 3, Distribution.POSITIVE),
            _case(3, 61, 127, Distribution.POSITIVE),
        ),
        gpu=(
            _case(512, 512, 512, Distribution.UNIFORM),
            _case(1024, 1024, 512, Distribution.NORMAL),
            _case(512, 512, 1024, Distribution.POSITIVE),
            _case(1024, 1024, 1024, Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, k, n, (Distribution.UNIFORM, Distribution.NORMAL, Distribution.POSITIVE)[rng.integers(3)])

    def draw(self, name: str, case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        values = super().draw(name, case, rng)
        # Products of a size at which sigmoids differ.
        return values / np.float32(sqrt(case["K"])) if name == "B" else values

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return sigmoid(product).sum(keepdims=True)

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        values = sigmoid(product)
        of_products = (values * (1.0 - values) * (condition + 4.0 * np.abs(product))).sum(keepdims=True)
        return of_products + sqrt(product.size) * values.sum(keepdims=True)


PROBLEM = MatmulSigmoidSum()
