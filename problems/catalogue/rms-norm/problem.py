"""RMS normalization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.normalization import CPU_ROWS, MOMENT_EPSILON, RowNorm
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Sizes
from problems.kit.distributions import Distribution

_case = CaseTemplate("shape=({B}, {N}), {distribution}")


class RmsNorm(RowNorm):
    """Each row is divided by the root of the mean of its squares."""

    slug = "rms-norm"
    title = "RMS Normalization"
    signature = "const float* X, float* Y, size_t B, size_t N"
    arrays: ClassVar[Mapping[str, str]] = {"X": "B, N", "Y": "B, N"}
    case = _case
    sizes = Sizes(
        cpu=tuple(_case(*one) for one in CPU_ROWS),
        gpu=(
            _case(1024, 1024, Distribution.NORMAL),
            _case(1024, 4096, Distribution.WIDE),
            _case(2048, 8192, Distribution.POSITIVE),
            _case(512, 16384, Distribution.UNIFORM),
        ),
    )

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + MOMENT_EPSILON)


PROBLEM = RmsNorm()
