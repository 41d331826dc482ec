"""2D max pooling."""

from __future__ import annotations

from problems.families.pooling import MaxPool
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class MaxPool2d(MaxPool):
    """The maximum of each window of an image."""

    slug = "max-pool-2d"
    title = "2D Max Pooling"
    difficulty = Difficulty.MEDIUM
    tags = ("pooling", "image")
    signature = (
        "const float* input, int kernel_size, int stride, int padding, int dilation, float* output, size_t H, size_t W"
    )


_case = MaxPool2d.case
MaxPool2d.sizes = Sizes(
    cpu=(
        _case((256, 384), (2, 2, 0, 1), Distribution.NORMAL),
        _case((257, 301), (3, 2, 1, 1), Distribution.WIDE),
        _case((129, 127), (3, 1, 1, 2), Distribution.SMALL),
        _case((200, 199), (7, 3, 3, 1), Distribution.UNIFORM),
    ),
    gpu=(
        _case((4096, 4096), (2, 2, 0, 1), Distribution.NORMAL),
        _case((8192, 8192), (3, 2, 1, 1), Distribution.WIDE),
        _case((16_384, 16_384), (4, 4, 2, 1), Distribution.UNIFORM),
        _case((2048, 2048), (5, 1, 2, 1), Distribution.SMALL),
        _case((4096, 4096), (3, 1, 2, 2), Distribution.NORMAL),
        _case((4096, 4096), (7, 3, 3, 1), Distribution.LARGE),
    ),
)

PROBLEM = MaxPool2d()
