"""MXFP8 dequantization."""

from __future__ import annotations

from problems.families.microscaling import E4M3
from problems.families.quantization import MxDequantize
from problems.kit.definition import Difficulty


class Mxfp8Dequantize(MxDequantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp8-dequantize"
    title = "MXFP8 Dequantization"
    difficulty = Difficulty.EASY
    tags = ("quantization", "low-precision")
    element = E4M3


PROBLEM = Mxfp8Dequantize()
