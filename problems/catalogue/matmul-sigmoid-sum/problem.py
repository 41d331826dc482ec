"""The sum of the sigmoids of a matrix product."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.matrix_products import MatrixProduct, hidden_lengths, sigmoid
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet, Tolerance
from problems.kit.distributions import Distribution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _case(m: int, n: int, k: int, distribution: Distribution) -> Case:
    values = {"M": m, "N": n, "K": k, "distribution": distribution}
    return Case(f"{m}x{k} x {k}x{n}, {distribution.value}", values)


class MatmulSigmoidSum(MatrixProduct):
    """The sum over all elements of `sigmoid(A B)`: one number."""

    slug = "matmul-sigmoid-sum"
    title = "Matrix Multiplication, Sigmoid and Sum"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm", "reduction")
    signature = "const float* A, const float* B, float* output, size_t M, size_t N, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    tolerance = Tolerance(
        2.0,
        "2 units of eps * (sum of s * (1 - s) * (sqrt(K) * t + 4 * |z|) + sqrt(M * N) * sum of s), s the sigmoids of "
        "the products z and t the sums of their terms' absolute values: sums in any order, and a fast exponential.",
    )
    sizes = Sizes(
        cpu=(
            _case(64, 48, 96, Distribution.UNIFORM),
            _case(31, 33, 257, Distribution.NORMAL),
            # Few terms, all alike in sign: errors of the inputs add up instead of cancelling.
            _case(257, 3, 2, Distribution.POSITIVE),
            _case(3, 127, 61, Distribution.POSITIVE),
        ),
        gpu=(
            _case(512, 512, 512, Distribution.UNIFORM),
            _case(1024, 512, 1024, Distribution.NORMAL),
            _case(512, 1024, 512, Distribution.POSITIVE),
            _case(1024, 1024, 1024, Distribution.NORMAL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, n, k, (Distribution.UNIFORM, Distribution.NORMAL, Distribution.POSITIVE)[rng.integers(3)])

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = (case[name] for name in ("M", "N", "K"))
        return {"A": (m, k), "B": (k, n)}

    def draw(self, name: str, shape: tuple[int, ...], case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        values = self.sample(case["distribution"], shape, rng, 4.0)
        # Products of a size at which sigmoids differ.
        return values / np.float32(sqrt(case["K"])) if name == "B" else values

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": (1,)}

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return sigmoid(product).sum(keepdims=True)

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        values = sigmoid(product)
        of_products = (values * (1.0 - values) * (condition + 4.0 * np.abs(product))).sum(keepdims=True)
        return of_products + sqrt(product.size) * values.sum(keepdims=True)


PROBLEM = MatmulSigmoidSum()
