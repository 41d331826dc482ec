"""A linear layer with ReLU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import MatrixProduct, hidden_lengths
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY, Domain
from problems.kit.rounding import sum_condition

_case = CaseTemplate("B={B}, N={N}, M={M}, {distribution}")


class GemmRelu(MatrixProduct):
    """`max(0, A W^T + b)`."""

    slug = "gemm-relu"
    title = "GEMM with Bias and ReLU"
    domains: ClassVar[Mapping[str, Domain]] = {"A": ANY, "W": ANY, "b": ANY}
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* A, const float* W, const float* b, float* C, size_t B, size_t N, size_t M"
    outputs: ClassVar[Mapping[str, Initial]] = {"C": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "B, N", "W": "M, N", "b": "M", "C": "B, M"}
    is_transposed = True
    sizes = Sizes(
        cpu=(
            _case(64, 128, 96, Distribution.UNIFORM),
            _case(31, 257, 33, Distribution.NORMAL),
            _case(65, 65, 127, Distribution.WIDE),
            _case(5, 509, 61, Distribution.SMALL),
        ),
        gpu=(
            _case(512, 6144, 1024, Distribution.UNIFORM),
            _case(512, 8192, 1024, Distribution.NORMAL),
            _case(512, 8192, 2048, Distribution.WIDE),
            _case(1024, 2048, 2048, Distribution.SMALL),
            _case(1024, 4096, 2048, Distribution.POSITIVE),
            _case(1024, 4096, 4096, Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        rows, depth, columns = hidden_lengths(size_set, rng, 3)
        return _case(rows, depth, columns, any_distribution(rng))

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return np.maximum(0.0, product + inputs["b"])

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        return condition + sum_condition(np.abs(inputs["b"]), inputs["A"].shape[1])

    def flops(self, case: Case) -> float:
        return 2.0 * case["B"] * case["N"] * case["M"]


PROBLEM = GemmRelu()
