"""MXFP8 GEMM."""

from __future__ import annotations

from problems.families.microscaling import E4M3
from problems.families.quantization import MxGemm
from problems.kit.definition import Difficulty


class Mxfp8Gemm(MxGemm):
    """The product of two matrices in the format."""

    slug = "mxfp8-gemm"
    title = "MXFP8 GEMM"
    difficulty = Difficulty.HARD
    tags = ("quantization", "gemm", "low-precision")
    element = E4M3


PROBLEM = Mxfp8Gemm()
