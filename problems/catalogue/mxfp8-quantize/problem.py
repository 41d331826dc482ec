"""MXFP8 quantization."""

from __future__ import annotations

from problems.families.microscaling import E4M3
from problems.families.quantization import MxQuantize
from problems.kit.definition import Difficulty


class Mxfp8Quantize(MxQuantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp8-quantize"
    title = "MXFP8 Quantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    element = E4M3


PROBLEM = Mxfp8Quantize()
