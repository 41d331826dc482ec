"""NVFP4 GEMM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.microscaling import E2M1, NV_BLOCK, nv_dequantized, untiled
from problems.families.quantization import (
    PRODUCT_SIZES,
    hidden_product,
    in_tiles,
    nv_global_scale,
    nv_scales,
    product_part,
    product_shapes,
    stretched,
)
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, SizeSet, Tolerance
from problems.kit.element_types import ELEMENT_TYPES
from problems.kit.factors import Factors
from problems.kit.rounding import EPS, SUM, sum_condition

_SHARE_OF_SUMS = SUM.units * EPS / ELEMENT_TYPES["float16"].eps


class Nvfp4Gemm(Problem):
    """`C = A B^T` in half precision, A and B in blocks along k, their scales in tiles."""

    slug = "nvfp4-gemm"
    title = "NVFP4 GEMM"
    difficulty = Difficulty.HARD
    tags = ("quantization", "gemm", "low-precision")
    signature = (
        "const uint8_t* q_a, const float8* scale_a, const float sf_g_a, const uint8_t* q_b, const float8* scale_b, "
        "const float sf_g_b, float16* c, size_t m, size_t n, size_t k"
    )
    outputs: ClassVar[Mapping[str, Initial]] = {"c": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"c": "m, n"}
    nondeterministic = True
    tolerance = Tolerance(
        1.0,
        "1 unit of eps(half) * |expected| for the last rounding, and 2 units of eps(float) * sqrt(k) * (sum of the "
        "products' absolute values): any order of fp32 additions.",
    )
    sizes = PRODUCT_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return stretched(hidden_product(size_set, rng), rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        drawn: dict[str, Any] = {}
        k, distribution = case["k"], case["distribution"]
        for at, (name, rows) in enumerate((("a", case["m"]), ("b", case["n"]))):
            drawn[f"q_{name}"] = E2M1.drawn(distribution, (rows, k), rng)
            drawn[f"scale_{name}"] = in_tiles(nv_scales, distribution, (rows, k // NV_BLOCK), rng)
            drawn[f"sf_g_{name}"] = nv_global_scale(case, at)
        return {**drawn, **self.scalars(case)}

    def input_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return product_shapes(case, NV_BLOCK, E2M1)

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        return {"c": a @ b.T}

    def condition(
        self, case: Case, inputs: Mapping[str, Any], expected: Mapping[str, NDArray[Any]]
    ) -> dict[str, NDArray[Any]]:
        a, b = self._factors(case, inputs)
        of_sum = sum_condition(np.abs(a) @ np.abs(b).T, case["k"])
        return {"c": np.abs(expected["c"]) + _SHARE_OF_SUMS * of_sum}

    def factors(self, case: Case, inputs: Mapping[str, Any]) -> Factors | None:
        a, b = self._factors(case, inputs)
        return Factors("c", a, b.T, roundings=1.0, sums=_SHARE_OF_SUMS)

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        return product_part(case, NV_BLOCK, E2M1, rng)

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["n"] * case["k"]

    def _factors(self, case: Case, inputs: Mapping[str, Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        blocks = case["k"] // NV_BLOCK
        a, b = (
            nv_dequantized(
                E2M1.codes(inputs[f"q_{name}"]),
                untiled(inputs[f"scale_{name}"].view(np.uint8), len(inputs[f"q_{name}"]), blocks),
                inputs[f"sf_g_{name}"],
            )
            for name in ("a", "b")
        )
        return a, b


PROBLEM = Nvfp4Gemm()
