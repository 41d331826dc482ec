"""2D average pooling."""

from __future__ import annotations

from problems.families.pooling import AveragePool
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class AveragePool2d(AveragePool):
    """The mean of each window of an image."""

    slug = "avg-pool-2d"
    title = "2D Average Pooling"
    difficulty = Difficulty.MEDIUM
    tags = ("pooling",)
    signature = "const float* input, int kernel_size, int stride, int padding, float* output, size_t H, size_t W"


_case = AveragePool2d.case
AveragePool2d.sizes = Sizes(
    cpu=(
        _case((384, 256), (2, 2, 0), Distribution.POSITIVE),
        _case((257, 301), (3, 2, 1), Distribution.WIDE),
        _case((129, 127), (5, 1, 2), Distribution.SMALL),
        _case((200, 199), (7, 3, 3), Distribution.UNIFORM),
    ),
    gpu=(
        _case((8192, 4096), (2, 2, 0), Distribution.UNIFORM),
        _case((8192, 8192), (3, 2, 1), Distribution.WIDE),
        _case((16_384, 16_384), (4, 4, 2), Distribution.NORMAL),
        _case((8192, 8192), (5, 3, 2), Distribution.POSITIVE),
        _case((4096, 4096), (3, 1, 1), Distribution.SMALL),
        _case((4096, 4096), (7, 3, 3), Distribution.UNIFORM),
    ),
)

PROBLEM = AveragePool2d()
