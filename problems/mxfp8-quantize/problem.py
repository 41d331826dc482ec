"""MXFP8 quantization."""

from __future__ import annotations

from problems.definition import Difficulty
from problems.microscaling import E4M3
from problems.quantization import MxQuantize


class Mxfp8Quantize(MxQuantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp8-quantize"
    title = "MXFP8 Quantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    element = E4M3


PROBLEM = Mxfp8Quantize()
