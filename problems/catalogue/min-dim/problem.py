"""Minimum along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from problems.families.along_dim import AlongDim, in_float64
from problems.kit.definition import Case, Difficulty
from problems.kit.rounding import EXACT


class MinDim(AlongDim):
    """The minimum along `dim`, which stays with length 1."""

    slug = "min-dim"
    title = "Minimum Over Dimension"
    difficulty = Difficulty.EASY
    tags = ("reduction",)
    dtypes = ("float32", "float16", "bfloat16")
    tolerance = EXACT
    flops_per_element = 1.0

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": in_float64(inputs).min(axis=case["dim"], keepdims=True)}


PROBLEM = MinDim()
