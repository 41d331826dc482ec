"""MXFP4 GEMM."""

from __future__ import annotations

from problems.families.microscaling import E2M1
from problems.families.quantization import MxGemm
from problems.kit.definition import Difficulty


class Mxfp4Gemm(MxGemm):
    """The product of two matrices in the format."""

    slug = "mxfp4-gemm"
    title = "MXFP4 GEMM"
    difficulty = Difficulty.HARD
    tags = ("quantization", "gemm", "low-precision")
    element = E2M1


PROBLEM = Mxfp4Gemm()
