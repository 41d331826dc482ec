"""Frobenius normalization."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.normalization import NORM_DISTRIBUTIONS, Normalization
from problems.kit.cases import CaseTemplate
from problems.kit.definition import Case, Difficulty, Sizes, SizeSet
from problems.kit.distributions import Distribution

_shaped = CaseTemplate("shape={shape}, {distribution}")


def _case(shape: tuple[int, ...], distribution: Distribution) -> Case:
    return _shaped(shape, distribution, size=prod(shape))


class FrobeniusNorm(Normalization):
    """All elements are divided by the root of the sum of all squares."""

    slug = "frobenius-norm"
    title = "Frobenius Normalization"
    difficulty = Difficulty.EASY
    tags = ("normalization", "reduction")
    dtypes = ("float32", "float16", "bfloat16")
    signature = "const float* X, float* Y, size_t size"
    arrays: ClassVar[Mapping[str, str]] = {"X": "size", "Y": "size"}
    sizes = Sizes(
        cpu=(
            _case((4, 64, 64), Distribution.NORMAL),
            _case((3, 31, 257), Distribution.POSITIVE),
            _case((2, 5, 61, 63), Distribution.WIDE),
            _case((1, 1, 7, 9, 101), Distribution.UNIFORM),
        ),
        gpu=(
            _case((4, 1024, 1024), Distribution.NORMAL),
            _case((32, 128, 128), Distribution.WIDE),
            _case((8, 32, 256, 256), Distribution.POSITIVE),
            _case((4, 16, 32, 128, 128), Distribution.UNIFORM),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        lengths = (13, 37, 41) if size_set is SizeSet.CPU else (127, 131, 257)
        shape = tuple(int(length) for length in rng.choice(lengths, 3))
        return _case(shape, NORM_DISTRIBUTIONS[rng.integers(len(NORM_DISTRIBUTIONS))])

    def norm(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(np.square(x).sum(axis=-1, keepdims=True))


PROBLEM = FrobeniusNorm()
