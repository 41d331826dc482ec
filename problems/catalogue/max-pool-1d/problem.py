"""1D max pooling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from problems.families.pooling import MaxPool, Pooling
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class MaxPool1d(MaxPool):
    """The maximum of each window of a signal."""

    slug = "max-pool-1d"
    title = "1D Max Pooling"
    difficulty = Difficulty.EASY
    tags = ("pooling",)
    signature = "const float* input, int kernel_size, int stride, int padding, int dilation, float* output, size_t H"
    labels: ClassVar[Mapping[str, str]] = {**Pooling.labels, "dilation": "d"}


_case = MaxPool1d.case
MaxPool1d.sizes = Sizes(
    cpu=(
        _case((131_072,), (7, 4, 3, 1), Distribution.NORMAL),
        _case((100_003,), (2, 1, 0, 1), Distribution.WIDE),
        _case((65_537,), (3, 2, 1, 2), Distribution.SMALL),
        _case((98_299,), (5, 3, 2, 1), Distribution.UNIFORM),
    ),
    gpu=(
        _case((2_097_152,), (7, 4, 3, 1), Distribution.UNIFORM),
        _case((4_194_304,), (2, 1, 0, 1), Distribution.WIDE),
        _case((8_388_608,), (3, 2, 1, 1), Distribution.NORMAL),
        _case((16_777_216,), (4, 4, 2, 1), Distribution.LARGE),
        _case((33_554_432,), (7, 2, 3, 1), Distribution.SMALL),
        _case((67_108_864,), (5, 3, 2, 1), Distribution.UNIFORM),
    ),
)

PROBLEM = MaxPool1d()
