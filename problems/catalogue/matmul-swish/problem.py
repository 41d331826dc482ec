"""A linear layer with swish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.matrix_products import MatrixProduct, hidden_lengths, swish, swish_condition
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Initial, Sizes, SizeSet
from problems.kit.distributions import Distribution, any_distribution
from problems.kit.domain import ANY, Domain
from problems.kit.rounding import sum_condition

_case = CaseTemplate("B={batch_size}, In={in_features}, Out={out_features}, Scale={scaling_factor}, {distribution}")


class MatmulSwish(MatrixProduct):
    """`scale * swish(X W^T + b)`."""

    slug = "matmul-swish"
    title = "Linear Layer with Swish"
    domains: ClassVar[Mapping[str, Domain]] = {"input_matrix": ANY, "weight_matrix": ANY, "bias": ANY}
    difficulty = Difficulty.MEDIUM
    tags = ("linear-algebra", "gemm")
    dtypes = ("float32", "float16", "bfloat16")
    signature = (
        "const float* input_matrix, const float* weight_matrix, const float* bias, "
        "const float scaling_factor, float* output, size_t batch_size, size_t in_features, size_t out_features"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {
        "input_matrix": "batch_size, in_features",
        "weight_matrix": "out_features, in_features",
        "bias": "out_features",
        "output": "batch_size, out_features",
    }
    is_transposed = True
    sizes = Sizes(
        cpu=(
            _case(64, 128, 96, 2.0, Distribution.UNIFORM),
            _case(31, 257, 33, 1.5, Distribution.NORMAL),
            _case(65, 65, 127, 0.5, Distribution.WIDE),
            _case(5, 509, 61, 1.0, Distribution.SMALL),
        ),
        gpu=(
            _case(128, 1024, 512, 2.0, Distribution.UNIFORM),
            _case(256, 2048, 1024, 1.5, Distribution.NORMAL),
            _case(64, 512, 256, 0.5, Distribution.WIDE),
            _case(512, 4096, 2048, 3.0, Distribution.SMALL),
            _case(32, 256, 128, 1.0, Distribution.POSITIVE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        rows, depth, columns = hidden_lengths(size_set, rng, 3)
        return _case(rows, depth, columns, float(rng.choice((0.5, 1.0, 2.5))), any_distribution(rng))

    def finish(self, product: NDArray[np.float64], inputs: Mapping[str, Any]) -> NDArray[np.float64]:
        return inputs["scaling_factor"] * swish(product + inputs["bias"])

    def finish_condition(
        self, condition: NDArray[np.float64], product: NDArray[np.float64], inputs: Mapping[str, Any]
    ) -> NDArray[np.float64]:
        return abs(inputs["scaling_factor"]) * swish_condition(
            condition + sum_condition(np.abs(inputs["bias"]), inputs["input_matrix"].shape[1]) + np.abs(product),
            product + inputs["bias"],
        )

    def flops(self, case: Case) -> float:
        return 2.0 * case["batch_size"] * case["in_features"] * case["out_features"]


PROBLEM = MatmulSwish()
