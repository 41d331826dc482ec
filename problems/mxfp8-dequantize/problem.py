"""MXFP8 dequantization."""

from __future__ import annotations

from problems.definition import Difficulty
from problems.microscaling import E4M3
from problems.quantization import MxDequantize


class Mxfp8Dequantize(MxDequantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp8-dequantize"
    title = "MXFP8 Dequantization"
    difficulty = Difficulty.EASY
    tags = ("quantization", "low-precision")
    element = E4M3


PROBLEM = Mxfp8Dequantize()
