"""MXFP4 dequantization."""

from __future__ import annotations

from problems.families.microscaling import E2M1
from problems.families.quantization import MxDequantize
from problems.kit.definition import Difficulty


class Mxfp4Dequantize(MxDequantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp4-dequantize"
    title = "MXFP4 Dequantization"
    difficulty = Difficulty.EASY
    tags = ("quantization", "low-precision")
    element = E2M1


PROBLEM = Mxfp4Dequantize()
