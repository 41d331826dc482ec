"""3D average pooling."""

from __future__ import annotations

from problems.families.pooling import AveragePool
from problems.kit.definition import Difficulty, Sizes
from problems.kit.distributions import Distribution


class AveragePool3d(AveragePool):
    """The mean of each window of a volume."""

    slug = "avg-pool-3d"
    title = "3D Average Pooling"
    difficulty = Difficulty.HARD
    tags = ("pooling",)
    signature = (
        "const float* input, int kernel_size, int stride, int padding, float* output, size_t H, size_t W, size_t D"
    )


_case = AveragePool3d.case
AveragePool3d.sizes = Sizes(
    cpu=(
        _case((48, 40, 56), (3, 2, 1), Distribution.POSITIVE),
        _case((37, 41, 43), (5, 2, 2), Distribution.WIDE),
        _case((31, 29, 67), (2, 1, 0), Distribution.SMALL),
        _case((53, 47, 45), (7, 3, 3), Distribution.UNIFORM),
    ),
    gpu=(
        _case((192, 192, 192), (5, 2, 2), Distribution.UNIFORM),
        _case((224, 224, 224), (7, 3, 3), Distribution.WIDE),
        _case((512, 512, 512), (3, 3, 1), Distribution.NORMAL),
        _case((784, 784, 784), (5, 2, 2), Distribution.POSITIVE),
        _case((1024, 1024, 1024), (3, 3, 1), Distribution.UNIFORM),
    ),
)

PROBLEM = AveragePool3d()
