"""A matrix product with swish, scaled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.families.matrix_products import MatrixProduct, hidden_lengths, swish, swish_condition
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _case(m: int, n: int, k: int, scale: float, distribution: Distribution) -> Case:
    values = {"M": m, "N": n, "K": k, "scale": scale, "distribution": distribution}
    return Case(f"{m}x{k} x {k}x{n}, {distribution.value}", values)


class MatmulSwishScaling(MatrixProduct):
    """`scale * swish(A B)`."""

    slug = "matmul-swish-scaling"
    title = "Matrix Multiplication, Swish and Scaling"
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* B, float scale, float* output, size_t M, size_t N, size_t K"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    sizes = Sizes(
        cpu=(
            _case(96, 64, 128, 0.5, Distribution.UNIFORM),
            _case(31, 33, 257, 1.414, Distribution.NORMAL),
            _case(65, 127, 65, 2.0, Distribution.WIDE),
            _case(5, 61, 509, 0.707, Distribution.SMALL),
        ),
        gpu=(
            _case(512, 512, 512, 0.5, Distribution.UNIFORM),
            _case(1024, 512, 1024, 1.414, Distribution.NORMAL),
            _case(512, 1024, 512, 2.0, Distribution.WIDE),
            _case(1024, 1024, 1024, 0.707, Distribution.SMALL),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        m, n, k = hidden_lengths(size_set, rng, 3)
        return _case(m, n, k, float(rng.choice((0.25, 1.0, 3.0))), any_distribution(rng))

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        m, n, k = (case[name] for name in ("M", "N", "K"))
        return {"A": (m, k), "B": (k, n)}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": (case["M"], case["N"])}

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {**super().inputs(case, rng), "scale": float(np.float32(case["scale"]))}

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return inputs["scale"] * swish(product)

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        return abs(inputs["scale"]) * swish_condition(condition, product)


PROBLEM = MatmulSwishScaling()
