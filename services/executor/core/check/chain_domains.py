"""Keeps new mantissas within an input's bounds.

A link of a chain gives a float new low bits. With b of them it may become any number of its block: the 2^b floats that
have the other bits in common. So b is chosen such that the bounds of the input's domain lie at the ends of blocks. A
bound that is a power of two takes no bit away, because all floats of one exponent are a block; 255 leaves 16 of 23
bits. A bound with more digits than half a mantissa is moved inwards to the nearest end of a block. Values between that
end and the bound are moved inwards as well, before the chain begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from problems.kit.domain import Domain


def free_bits(dtype: np.dtype[Any], domain: Domain) -> int:
    """Returns the number of low bits of a mantissa that may change."""
    mantissa, _ = widths(dtype)
    return min((_free_below(bound, mantissa) for bound in _bound_bits(dtype, domain)), default=mantissa)


def within_blocks(array: NDArray[Any], domain: Domain) -> NDArray[Any]:
    """Returns the array with every number in a block that lies wholly within the domain; zeros stay."""
    mantissa, exponent = widths(array.dtype)
    free, sign = free_bits(array.dtype, domain), 1 << (mantissa + exponent)
    bits = bits_of(array)
    sizes, signs = bits & bits.dtype.type(sign - 1), bits & bits.dtype.type(sign)
    positive = _clipped(sizes, (domain.low, domain.high), array.dtype, free)
    negative = _clipped(sizes, (-domain.high, -domain.low), array.dtype, free)
    moved = np.where(sizes == 0, sizes, np.where(signs == 0, positive, negative)) | signs
    return moved.view(array.dtype).reshape(array.shape)


def widths(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Returns the numbers of bits of mantissa and exponent."""
    info = cast("Any", ml_dtypes.finfo(dtype))  # pyright: ignore[reportUnknownMemberType]  its stubs are partial
    return int(info.nmant), int(info.nexp)


def bits_of(array: NDArray[Any]) -> NDArray[Any]:
    """Returns the elements, flat, as unsigned integers."""
    return np.ascontiguousarray(array).reshape(-1).view(f"u{array.dtype.itemsize}")


def _bound_bits(dtype: np.dtype[Any], domain: Domain) -> Iterator[int]:
    return (_bits_of_one(abs(bound), dtype) for bound in (domain.low, domain.high) if bound and math.isfinite(bound))


def _bits_of_one(value: float, dtype: np.dtype[Any]) -> int:
    return int(bits_of(np.array([value]).astype(dtype))[0])


def _free_below(bits: int, mantissa: int) -> int:
    digits = bits & ((1 << mantissa) - 1)
    zeros = (digits & -digits).bit_length() - 1 if digits else mantissa
    return max(zeros, mantissa - mantissa // 2)


def _clipped(sizes: NDArray[Any], ends: tuple[float, float], dtype: np.dtype[Any], free: int) -> NDArray[Any]:
    """Moves magnitudes, given as bits, into the whole blocks between two ends."""
    low, high = ends
    if 0 < low < math.inf:
        sizes = np.maximum(sizes, -(-_bits_of_one(low, dtype) >> free) << free)
    if 0 < high < math.inf:
        sizes = np.minimum(sizes, (_bits_of_one(high, dtype) >> free << free) - 1)
    return sizes
