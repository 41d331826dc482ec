"""3D max pooling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from problems.families.pooling import MaxPool, Pooling
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class MaxPool3d(MaxPool):
    """The maximum of each window of a volume."""

    slug = "max-pool-3d"
    title = "3D Max Pooling"
    difficulty = Difficulty.HARD
    tags = ("pooling",)
    signature = (
        "const float* input, int kernel_size, int stride, int padding, int dilation, float* output, "
        "size_t H, size_t W, size_t D"
    )
    labels: ClassVar[Mapping[str, str]] = {**Pooling.labels, "dilation": "dilation"}


_case = MaxPool3d.case
MaxPool3d.sizes = Sizes(
    cpu=(
        _case((48, 40, 56), (2, 2, 0, 2), Distribution.NORMAL),
        _case((37, 41, 43), (3, 2, 1, 1), Distribution.WIDE),
        _case((31, 29, 67), (3, 3, 1, 3), Distribution.SMALL),
        _case((53, 47, 45), (7, 3, 3, 1), Distribution.UNIFORM),
    ),
    gpu=(
        _case((256, 256, 256), (2, 2, 0, 2), Distribution.UNIFORM),
        _case((512, 512, 512), (3, 2, 1, 1), Distribution.WIDE),
        _case((1024, 1024, 1024), (4, 4, 2, 1), Distribution.NORMAL),
        _case((512, 512, 512), (3, 3, 1, 3), Distribution.LARGE),
        _case((1024, 1024, 1024), (5, 2, 2, 2), Distribution.SMALL),
        _case((1024, 1024, 1024), (7, 3, 3, 1), Distribution.UNIFORM),
    ),
)

PROBLEM = MaxPool3d()
