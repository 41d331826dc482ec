"""A matrix product times a matrix, element by element, with leaky ReLU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import MatrixProduct, hidden_lengths
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.rounding import EPS

_case = CaseTemplate("{M}x{K} x {K}x{N}, {distribution}")


class GemmMultiplyLeakyRelu(MatrixProduct):
    """`leaky_relu((A B) * C)`."""

    slug = "gemm-multiply-leakyrelu"
    title = "GEMM, Multiplication and Leaky ReLU"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = (
        "const float* A, const float* B, const float* C, float alpha, float* output, size_t M, size_t N, size_t K"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "M, K", "B": "K, N", "C": "M, N", "output": "M, N"}
    sizes = Sizes(
        cpu=(
            _case(96, 128, 64, Distribution.UNIFORM, alpha=0.01),
            _case(31, 257, 33, Distribution.NORMAL, alpha=0.05),
            _case(65, 65, 127, Distribution.WIDE, alpha=0.1),
            _case(5, 509, 61, Distribution.SMALL, alpha=0.2),
        ),
        gpu=(
            _case(512, 512, 512, Distribution.UNIFORM, alpha=0.01),
            _case(1024, 1024, 512, Distribution.NORMAL, alpha=0.05),
            _case(512, 512, 1024, Distribution.WIDE, alpha=0.1),
            _case(1024, 1024, 1024, Distribution.SMALL, alpha=0.2),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, k, n, alpha=float(rng.choice((0.02, 0.07, 0.3))), distribution=any_distribution(rng))

    def draw(self, name: str, case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        if name == "C":
            return self.sample(Distribution.NORMAL, self.input_shapes(case)[name], rng, 1.0)
        return super().draw(name, case, rng)

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        z: NDArray[np.float64] = product * inputs["C"]
        return np.where(z > 0.0, z, inputs["alpha"] * z)

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        scaled: NDArray[np.float64] = (condition + 2.0 * np.abs(product)) * np.abs(inputs["C"])
        # Where rounding may decide on the sign, the slope may be 1.
        is_negative = product * inputs["C"] < -2.0 * EPS * scaled
        return np.where(is_negative, inputs["alpha"] * scaled, scaled)


PROBLEM = GemmMultiplyLeakyRelu()
