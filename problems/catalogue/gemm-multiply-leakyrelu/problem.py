"""A matrix product times a matrix, element by element, with leaky ReLU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.matrix_products import MatrixProduct, hidden_lengths
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.rounding import EPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _case(m: int, n: int, k: int, alpha: float, distribution: Distribution) -> Case:
    values = {"M": m, "N": n, "K": k, "alpha": alpha, "distribution": distribution}
    return Case(f"{m}x{k} x {k}x{n}, {distribution.value}", values)


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
    sizes = Sizes(
        cpu=(
            _case(96, 64, 128, 0.01, Distribution.UNIFORM),
            _case(31, 33, 257, 0.05, Distribution.NORMAL),
            _case(65, 127, 65, 0.1, Distribution.WIDE),
            _case(5, 61, 509, 0.2, Distribution.SMALL),
        ),
        gpu=(
            _case(512, 512, 512, 0.01, Distribution.UNIFORM),
            _case(1024, 512, 1024, 0.05, Distribution.NORMAL),
            _case(512, 1024, 512, 0.1, Distribution.WIDE),
            _case(1024, 1024, 1024, 0.2, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, n, k, float(rng.choice((0.02, 0.07, 0.3))), any_distribution(rng))

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = (case[name] for name in ("M", "N", "K"))
        return {"A": (m, k), "B": (k, n), "C": (m, n)}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": (case["M"], case["N"])}

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {**super().inputs(case, rng), "alpha": float(np.float32(case["alpha"]))}

    def draw(self, name: str, shape: tuple[int, ...], case: Case, rng: np.random.Generator) -> NDArray[np.float32]:
        if name == "C":
            return self.sample(Distribution.NORMAL, shape, rng, 1.0)
        return super().draw(name, shape, case, rng)

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
