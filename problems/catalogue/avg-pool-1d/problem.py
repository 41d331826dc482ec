"""1D average pooling."""

from __future__ import annotations

from problems.families.pooling import AveragePool
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class AveragePool1d(AveragePool):
    """The mean of each window of a signal."""

    slug = "avg-pool-1d"
    title = "1D Average Pooling"
    difficulty = Difficulty.EASY
    tags = ("pooling",)
    signature = "const float* input, int kernel_size, int stride, int padding, float* output, size_t H"


_case = AveragePool1d.case
AveragePool1d.sizes = Sizes(
    cpu=(
        _case((131_072,), (7, 4, 3), Distribution.POSITIVE),
        _case((100_003,), (2, 1, 0), Distribution.WIDE),
        _case((65_537,), (3, 2, 1), Distribution.SMALL),
        _case((98_299,), (5, 3, 2), Distribution.UNIFORM),
    ),
    gpu=(
        _case((2_097_152,), (7, 4, 3), Distribution.UNIFORM),
        _case((4_194_304,), (2, 1, 0), Distribution.WIDE),
        _case((8_388_608,), (3, 2, 1), Distribution.NORMAL),
        _case((16_777_216,), (4, 4, 2), Distribution.POSITIVE),
        _case((33_554_432,), (7, 2, 3), Distribution.SMALL),
        _case((67_108_864,), (5, 3, 2), Distribution.UNIFORM),
    ),
)

PROBLEM = AveragePool1d()
