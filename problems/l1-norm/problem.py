"""L1 normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from problems.definition import Case, Difficulty, Sizes, SizeSet
from problems.distributions import Distribution
from problems.normalization import Normalization, norm_distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _case(rows: int, columns: int, distribution: Distribution) -> Case:
    name = f"B={rows}, D={columns}, {distribution.value}"
    return Case(name, {"B": rows, "D": columns, "distribution": distribution})


class L1Norm(Normalization):
    """Each row is divided by the sum of its absolute values."""

    slug = "l1-norm"
    title = "L1 Normalization"
    difficulty = Difficulty.EASY
    tags = ("normalization", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* X, float* Y, size_t B, size_t D"
    sizes = Sizes(
        cpu=(
            _case(16, 1024, Distribution.NORMAL),
            _case(7, 4099, Distribution.WIDE),
            _case(257, 63, Distribution.POSITIVE),
            _case(65, 509, Distribution.UNIFORM),
        ),
        gpu=(
            _case(128, 4096, Distribution.NORMAL),
            _case(256, 4096, Distribution.WIDE),
            _case(128, 8192, Distribution.POSITIVE),
            _case(256, 8192, Distribution.UNIFORM),
            _case(128, 16384, Distribution.LARGE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        rows, columns = ((3, 31, 127), (61, 513, 1021)) if size_set is SizeSet.CPU else ((127, 257), (4093, 8209))
        return _case(int(rng.choice(rows)), int(rng.choice(columns)), norm_distribution(rng))

    def shape(self, case: Case) -> tuple[int, ...]:
        return (case.values["B"], case.values["D"])

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.abs(x).sum(axis=-1, keepdims=True)


PROBLEM = L1Norm()
