"""How inputs are drawn: mixtures of scales and shapes with spikes at random places, so that lazy kernels are found out.

Spikes are a few values far above the rest. One always lies in the last tile of an array, where kernels that round
their grid down, or skip a remainder, do not look.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import inf, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

TILE_ELEMENTS = 64
"""One wavefront: the last tile of an array is its last 64 elements."""

SPIKE_FACTOR = 4096.0
"""How far spikes stand out: one outweighs a whole row of ordinary terms, so that its low bits can be checked."""

_ELEMENTS_PER_SPIKE = 8192


class Distribution(StrEnum):
    """What ordinary values look like, before spikes."""

    UNIFORM = "uniform"
    """Even in [-1, 1)."""
    POSITIVE = "positive"
    """Even in [0, 1): sums grow, so that a skipped part shows."""
    NORMAL = "normal"
    """Standard normal."""
    SMALL = "small"
    """Normal at a scale of 1e-3, which half precision cannot hold."""
    LARGE = "large"
    """Normal at a scale of 1e3."""
    WIDE = "wide"
    """Either sign, and magnitudes of all scales from 1e-3 to 1e3."""


@dataclass(frozen=True)
class Span:
    """The scales of SMALL and LARGE, how many powers of two WIDE reaches to either side, and the largest spike."""

    small: float
    large: float
    octaves: float
    spike: float


WHOLE_SPAN = Span(1e-3, 1e3, 10.0, inf)
SPANS: Mapping[str, Span] = {"float16": Span(2.0**-4, 4.0, 4.0, 32.0)}
"""By element type, where the whole span is too much for it: squares and sums of halfs must stay below 65,504, and few
results may be so small (6e-5) that devices flush them."""


def sample(
    distribution: Distribution | str,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    spike: float = SPIKE_FACTOR,
    span: Span = WHOLE_SPAN,
) -> NDArray[np.float32]:
    """Draw float32 values of one distribution, with spikes of about `spike` times its scale."""
    kind = Distribution(distribution)
    scale = {Distribution.SMALL: span.small, Distribution.LARGE: span.large}.get(kind, 1.0)
    values = _plain(kind, prod(shape), rng, scale, span.octaves)
    signs = 1.0 if kind is Distribution.POSITIVE else rng.choice((-1.0, 1.0), spike_count(values.size))
    places = spike_places(values.size, rng)
    values[places] = signs * min(spike, span.spike) * scale * rng.uniform(0.5, 1.0, places.size)
    return values.reshape(shape)


def any_distribution(rng: np.random.Generator) -> Distribution:
    """Any of the distributions, all alike likely."""
    return tuple(Distribution)[rng.integers(len(Distribution))]


def spike_count(size: int) -> int:
    """How many spikes an array of this size gets."""
    return min(size, 2 + size // _ELEMENTS_PER_SPIKE)


def spike_places(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Random flat positions; the last of them lies in the last tile."""
    places = rng.integers(0, size, spike_count(size))
    places[-1:] = rng.integers(max(0, size - TILE_ELEMENTS), size)
    return places


def _plain(
    kind: Distribution, size: int, rng: np.random.Generator, scale: float, octaves: float
) -> NDArray[np.float32]:
    if kind in {Distribution.UNIFORM, Distribution.POSITIVE}:
        values = rng.random(size, np.float32)
        return values if kind is Distribution.POSITIVE else values * np.float32(2) - np.float32(1)
    if kind is Distribution.WIDE:
        magnitudes = np.exp2(rng.random(size, np.float32) * np.float32(2 * octaves) - np.float32(octaves))
        return np.where(rng.random(size, np.float32) < np.float32(0.5), -magnitudes, magnitudes)
    return rng.standard_normal(size, np.float32) * np.float32(scale)
