"""NVFP4 quantization."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.microscaling import E2M1, E4M3, NV_BLOCK, TILED_SCALES, nv_quantized, tile_places, tiled
from problems.families.quantization import QUANTIZE_SIZES, blocks_part, encoder_input, hidden_matrix
from problems.kit.chaining import ChainRule, rolled
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, SizeSet
from problems.kit.parts import Stretch
from problems.kit.rounding import EXACT

_BLOCKS = "blocks"
"""Of a part: its scales do not lie in tiles."""


class Nvfp4Quantize(Problem):
    """16 neighbours of a row share an 8-bit scale, which lie in tiles; the matrix has one scale more."""

    slug = "nvfp4-quantize"
    title = "NVFP4 Quantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    signature = "const float16* a, const float sf_g, uint8_t* q, float8* scale, size_t m, size_t k"
    # Whether a number is clear of where rounding turns hangs on the block that it is in.
    chain: ClassVar[Mapping[str, ChainRule]] = {"a": rolled(NV_BLOCK)}
    outputs: ClassVar[Mapping[str, Initial]] = {"q": Initial.POISON, "scale": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {
        "a": "m, k",
        "q": "m, k / 2",
        "scale": TILED_SCALES,
    }
    tolerance = EXACT
    sizes = QUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, NV_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        halfs, power = encoder_input(case["distribution"], (case["m"], case["k"]), NV_BLOCK, "float16", rng)
        return {"a": halfs, "sf_g": 1536.0 / 2.0**power, **self.scalars(case)}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        codes, scales = nv_quantized(inputs["a"], inputs["sf_g"])
        return {"q": E2M1.stored(codes), "scale": E4M3.decode(scales if _BLOCKS in case.values else tiled(scales))}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        if isinstance(rng, Stretch):
            return None  # Tiles reach beyond the matrix, and no block has what lies there.
        part = blocks_part(case, NV_BLOCK, E2M1, tile_places, rng, "a")
        return part and replace(part, case=replace(part.case, values={**part.case.values, _BLOCKS: True}))

    def flops(self, case: Case) -> float:
        return 2.0 * case["m"] * case["k"]


PROBLEM = Nvfp4Quantize()
