"""Index of the minimum along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.along_dim import AlongDim
from problems.kit.definition import Case, Difficulty, Initial
from problems.kit.domain import AS_A_WHOLE, Domain
from problems.kit.rounding import EXACT


class Argmin(AlongDim):
    """Where the first minimum along `dim` lies."""

    slug = "argmin"
    title = "Argmin Over Dimension"
    domains: ClassVar[Mapping[str, Domain]] = {"input": AS_A_WHOLE}
    difficulty = Difficulty.EASY
    tags = ("reduction",)
    signature = "const float* input, int dim, int* output, const int* shape, int ndim"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    tolerance = EXACT
    flops_per_element = 1.0

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": np.argmin(inputs["input"], axis=case["dim"], keepdims=True).astype(np.int32)}


PROBLEM = Argmin()
