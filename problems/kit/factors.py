"""An output that is a plain product of two matrices: it can be checked without being computed again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True)
class Factors:
    """`output`, row after row, is `left` (m x k) times `right` (k x n).

    Its condition is `roundings * |expected| + sums * sqrt(k) * (|left| |right|)`, as that of the problem is.
    """

    output: str
    left: NDArray[Any]
    right: NDArray[Any]
    roundings: float = 0.0
    sums: float = 1.0

    @property
    def flops(self) -> float:
        """What the product takes."""
        return 2.0 * self.left.shape[0] * self.left.shape[1] * self.right.shape[1]
