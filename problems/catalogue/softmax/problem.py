"""Softmax along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.along_dim import CPU_CASES, AlongDim, in_float64, tensor_case
from problems.kit.definition import Case, Difficulty, Sizes, Tolerance
from problems.kit.distributions import Distribution
from problems.kit.domain import ANY, Domain


class Softmax(AlongDim):
    """`exp(x)` over its sum along `dim`."""

    slug = "softmax"
    title = "Softmax"
    domains: ClassVar[Mapping[str, Domain]] = {"input": ANY}
    difficulty = Difficulty.MEDIUM
    tags = ("reduction", "activation")
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = Tolerance(
        8.0,
        "8 units of eps * y * (1 + |x| + |max x| + sqrt(n)): a fast exponential may take x off by an eps of itself, "
        "and the sum of n terms may be added in any order.",
    )
    sizes = Sizes(
        cpu=CPU_CASES,
        gpu=(
            tensor_case((16, 128, 256), 1, Distribution.NORMAL),
            tensor_case((32, 512, 512), 2, Distribution.UNIFORM),
            tensor_case((8, 1024, 1024), 1, Distribution.NORMAL),
            tensor_case((64, 128, 128, 128), 2, Distribution.UNIFORM),
            tensor_case((4, 256, 256, 256), 3, Distribution.NORMAL),
            tensor_case((128, 10), 1, Distribution.WIDE),
            tensor_case((256, 50, 50), 0, Distribution.UNIFORM),
        ),
    )
    flops_per_element = 5.0
    scale = 3.0
    spike = 4.0

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"output": case["shape"]}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        x, dim = in_float64(inputs), case["dim"]
        powers = np.exp(x - x.max(axis=dim, keepdims=True))
        return {"output": powers / powers.sum(axis=dim, keepdims=True)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        x, dim = in_float64(inputs), case["dim"]
        largest = np.abs(x.max(axis=dim, keepdims=True))
        return {"output": expected["output"] * (1.0 + np.abs(x) + largest + sqrt(x.shape[dim]))}


PROBLEM = Softmax()
