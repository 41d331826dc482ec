"""NVFP4 dequantization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.microscaling import E2M1, NV_BLOCK, TILED_SCALES, nv_dequantized, tile_places, untiled
from problems.families.quantization import (
    DEQUANTIZE_SIZES,
    blocks_part,
    hidden_matrix,
    in_tiles,
    nv_global_scale,
    nv_scales,
    stretched,
)
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, SizeSet, Tolerance


class Nvfp4Dequantize(Problem):
    """What `q` is worth by its blocks' scales and the matrix's."""

    slug = "nvfp4-dequantize"
    title = "NVFP4 Dequantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    signature = "const uint8_t* q, const float8* scale, const float sf_g, float* out, size_t m, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"out": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {
        "q": "m, k / 2",
        "scale": TILED_SCALES,
        "out": "m, k",
    }
    tolerance = Tolerance(
        4.0,
        "4 units of eps * |expected|: two for a fast reciprocal of sf_g, and half a unit each for up to four products.",
    )
    sizes = DEQUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return stretched(hidden_matrix(size_set, NV_BLOCK, rng), rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        m, k, distribution = case["m"], case["k"], case["distribution"]
        q = E2M1.drawn(distribution, (m, k), rng)
        scales = in_tiles(nv_scales, distribution, (m, k // NV_BLOCK), rng)
        return {"q": q, "scale": scales, "sf_g": nv_global_scale(case), **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        scales = untiled(inputs["scale"].view(np.uint8), case["m"], case["k"] // NV_BLOCK)
        return {"out": nv_dequantized(E2M1.codes(inputs["q"]), scales, inputs["sf_g"])}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        return blocks_part(case, NV_BLOCK, E2M1, tile_places, rng)

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["k"]


PROBLEM = Nvfp4Dequantize()
