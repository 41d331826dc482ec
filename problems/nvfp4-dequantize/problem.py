"""NVFP4 dequantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from problems.block_inputs import nv_input
from problems.definition import Case, Difficulty, Initial, Problem, SizeSet, Tolerance
from problems.microscaling import E2M1, E4M3, NV_BLOCK, nv_dequantized, nv_quantized, tiled, tiled_size, untiled
from problems.quantization import DEQUANTIZE_SIZES, hidden_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class Nvfp4Dequantize(Problem):
    """What `q` is worth by its blocks' scales and the matrix's."""

    slug = "nvfp4-dequantize"
    title = "NVFP4 Dequantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    signature = "const uint8_t* q, const float8* scale, const float sf_g, float* out, size_t m, size_t k"
    outputs: ClassVar[Mapping[str, Initial]] = {"out": Initial.POISON}
    tolerance = Tolerance(
        4.0,
        "4 units of eps * |expected|: two for a fast reciprocal of sf_g, and half a unit each for up to four products.",
    )
    sizes = DEQUANTIZE_SIZES

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return hidden_matrix(size_set, NV_BLOCK, rng)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        sides = {name: case.values[name] for name in ("m", "k")}
        matrix = self.sample(case.values["distribution"], (sides["m"], sides["k"]), rng, spike=16.0)
        halfs, scale = nv_input(matrix.astype(np.float16))
        codes, scales = nv_quantized(halfs, scale)
        return {"q": E2M1.stored(codes), "scale": tiled(scales).view(E4M3.dtype), "sf_g": scale, **sides}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"out": (case.values["m"], case.values["k"])}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        scales = untiled(inputs["scale"].view(np.uint8), case.values["m"], case.values["k"] // NV_BLOCK)
        return {"out": nv_dequantized(E2M1.codes(inputs["q"]), scales, inputs["sf_g"])}

    def flops(self, case: Case) -> float:
        return 2.0 * case.values["m"] * case.values["k"]

    def bytes(self, case: Case) -> float:
        m, k = case.values["m"], case.values["k"]
        return float(m * k // 2 + tiled_size(m, k // NV_BLOCK) + 4 * m * k)


PROBLEM = Nvfp4Dequantize()
