"""Mean along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.along_dim import AlongDim, in_float64
from problems.kit.definition import Case, Difficulty, Initial, Tolerance
from problems.kit.rounding import sum_condition


class MeanDim(AlongDim):
    """The mean along `dim`, which stays with length 1."""

    slug = "mean-dim"
    title = "Mean Over Dimension"
    difficulty = Difficulty.EASY
    tags = ("reduction",)
    dtypes = ("float32", "float16", "bfloat16")
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.ZERO}
    nondeterministic = True
    tolerance = Tolerance(
        2.0, "2 units of eps * sqrt(n) * mean|x|: any order of fp32 additions of the n terms, then a division."
    )
    flops_per_element = 1.0

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": in_float64(inputs).mean(axis=case["dim"], keepdims=True)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        dim = case["dim"]
        absolute = np.abs(in_float64(inputs)).mean(axis=dim, keepdims=True)
        return {"output": sum_condition(absolute, case["shape"][dim])}


PROBLEM = MeanDim()
