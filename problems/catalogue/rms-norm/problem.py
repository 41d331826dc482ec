"""RMS normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.families.normalization import CPU_ROWS, MOMENT_EPSILON, RowNorm
from problems.kit.definition import Case, Sizes
from problems.kit.distributions import Distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _case(rows: int, columns: int, distribution: Distribution) -> Case:
    name = f"shape=({rows}, {columns}), {distribution.value}"
    return Case(name, {"B": rows, "N": columns, "distribution": distribution})


class RmsNorm(RowNorm):
    """Each row is divided by the root of the mean of its squares."""

    slug = "rms-norm"
    title = "RMS Normalization"
    signature = "const float* X, float* Y, size_t B, size_t N"
    sizes = Sizes(
        cpu=tuple(_case(*one) for one in CPU_ROWS),
        gpu=(
            _case(1024, 1024, Distribution.NORMAL),
            _case(1024, 4096, Distribution.WIDE),
            _case(2048, 8192, Distribution.POSITIVE),
            _case(512, 16384, Distribution.UNIFORM),
        ),
    )

    def case(self, rows: int, columns: int, distribution: Distribution) -> Case:
        return _case(rows, columns, distribution)

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + MOMENT_EPSILON)


PROBLEM = RmsNorm()
