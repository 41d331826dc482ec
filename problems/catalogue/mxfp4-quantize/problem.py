"""MXFP4 quantization."""

from __future__ import annotations

from problems.families.microscaling import E2M1
from problems.families.quantization import MxQuantize
from problems.kit.definition import Difficulty


class Mxfp4Quantize(MxQuantize):
    """32 neighbours of a row share a scale."""

    slug = "mxfp4-quantize"
    title = "MXFP4 Quantization"
    difficulty = Difficulty.MEDIUM
    tags = ("quantization", "low-precision")
    element = E2M1


PROBLEM = Mxfp4Quantize()
