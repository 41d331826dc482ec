"""Product along one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.along_dim import AlongDim, in_float64
from problems.kit.definition import Case, Difficulty, Tolerance
from problems.kit.distributions import changed
from problems.kit.domain import Domain
from problems.kit.rounding import sum_condition


class ProductDim(AlongDim):
    """The product along `dim`, which stays with length 1."""

    slug = "product-dim"
    title = "Product Over Dimension"
    domains: ClassVar[Mapping[str, Domain]] = {}
    difficulty = Difficulty.EASY
    tags = ("reduction",)
    tolerance = Tolerance(
        2.0, "2 units of eps * sqrt(n) * |product|: each of the n products rounds once, in any order; a sum's rule."
    )
    flops_per_element = 1.0
    spike = 8.0

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        # Factors of either sign whose logarithms have a scale of 4 / sqrt(n), so that products stay within 2^+-60.
        inputs = super().inputs(case, rng)
        scale = np.float32(4.0 / sqrt(case["shape"][case["dim"]]))

        def factors(piece: NDArray[np.float32], _: slice) -> None:
            np.exp2(piece.clip(-8.0, 8.0) * scale, out=piece)
            piece *= 1 - 2 * rng.integers(0, 2, piece.shape, np.int8)

        inputs["input"] = changed(inputs["input"], factors)
        return inputs

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        return {"output": in_float64(inputs).prod(axis=case["dim"], keepdims=True)}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        return {"output": sum_condition(np.abs(expected["output"]), case["shape"][case["dim"]])}


PROBLEM = ProductDim()
