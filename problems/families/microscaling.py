"""Block-scaled formats: small floats that share a scale with their neighbours in a row.

MX (OCP Microscaling Formats specification 1.0): 32 elements share an E8M0 scale, a power of two. NVFP4: 16 elements
share an E4M3 scale, and a matrix one float. All encodings here are OCP's. The MI300X's own 8-bit floats are e4m3fnuz
and e5m2fnuz: an e4m3fnuz byte is worth half of what it is worth as e4m3fn, its 0x80 is NaN, and its 0x7f no NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from problems.kit.distributions import Codes, Distribution, some_codes

MX_BLOCK = 32
NV_BLOCK = 16
_E8M0_BIAS = 127

TILE_ROWS = 128
TILE_COLUMNS = 4
"""Scales that matrix units of NVIDIA's take come in tiles of 128 rows and 4 columns: cuBLAS, "1D Block Scaling Factors
Layout", which PyTorch calls SWIZZLE_32_4_4."""

_ROWS_TOGETHER = 32


@dataclass(frozen=True)
class SmallFloat:
    """A type of elements: `largest` is its largest number, which lies below twice 2^`exponent`."""

    dtype: np.dtype[Any]
    largest: float
    exponent: int

    @property
    def packed(self) -> bool:
        """Whether two elements share a byte."""
        return self.largest == E2M1_LARGEST

    def stored_length(self, count: int) -> int:
        """How many bytes so many elements take in memory."""
        return count // 2 if self.packed else count

    def round(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        """The codes of the nearest numbers, ties to the even code, beyond the largest that one."""
        return np.clip(values, -self.largest, self.largest).astype(self.dtype).view(np.uint8)

    def decode(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """What codes are worth."""
        return codes.view(self.dtype).astype(np.float64)

    def drawn(self, distribution: Distribution, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.uint8]:
        """Any codes but NaN and -0, or any positive ones, as they lie in memory, for a matrix of this shape."""
        rows, columns = shape
        is_positive = distribution is Distribution.POSITIVE
        if self.packed:
            return some_codes(Codes(4, 0x7 if is_positive else 0xF), (rows, columns // 2), rng)
        return some_codes(Codes(8, 0x7F if is_positive else 0xFF, _E4M3_NAN), shape, rng)

    def stored(self, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Codes as they lie in memory: of two that share a byte, the earlier has the low bits."""
        return (codes[..., 0::2] | (codes[..., 1::2] << 4)).astype(np.uint8) if self.packed else codes

    def codes(self, stored: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The other way round."""
        if not self.packed:
            return stored
        return np.stack([stored & 15, stored >> 4], axis=-1).astype(np.uint8).reshape(*stored.shape[:-1], -1)


_E4M3_NAN = 0x7F
E2M1_LARGEST = 6.0
E4M3_LARGEST = 448.0
E2M1 = SmallFloat(np.dtype(ml_dtypes.float4_e2m1fn), E2M1_LARGEST, 2)
E4M3 = SmallFloat(np.dtype(ml_dtypes.float8_e4m3fn), E4M3_LARGEST, 8)


def in_blocks(matrix: NDArray[Any], block: int) -> NDArray[Any]:
    """Rows cut into blocks: a view with one dimension more."""
    return matrix.reshape(len(matrix), -1, block)


def mx_quantized(matrix: NDArray[Any], element: SmallFloat) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Codes and scales.

    A scale is the power of two which brings the largest magnitude of its block to the element type's largest exponent;
    magnitudes that then lie above the type's largest number become that.
    """
    blocks = in_blocks(matrix.astype(np.float64), MX_BLOCK)
    exponents = np.frexp(np.abs(blocks).max(axis=-1))[1] - 1 - element.exponent
    codes = element.round(np.ldexp(blocks, -exponents[..., None]))
    return codes.reshape(matrix.shape), (exponents + _E8M0_BIAS).astype(np.uint8)


def mx_dequantized(codes: NDArray[np.uint8], scales: NDArray[np.uint8], element: SmallFloat) -> NDArray[np.float64]:
    """What codes are worth by their scales, one row of scales for a row of codes."""
    exponents = scales.astype(np.int64) - _E8M0_BIAS
    return np.ldexp(in_blocks(element.decode(codes), MX_BLOCK), exponents[..., None]).reshape(codes.shape)


def nv_quantized(matrix: NDArray[Any], global_scale: float) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Codes of elements, 0 where their scale is, and of scales, which bring the largest magnitude of a block to 6."""
    blocks = in_blocks(matrix.astype(np.float64), NV_BLOCK)
    scales = E4M3.round(np.abs(blocks).max(axis=-1) / E2M1_LARGEST * global_scale)
    worth = E4M3.decode(scales)[..., None]
    ratios = np.divide(blocks * global_scale, worth, out=np.zeros_like(blocks), where=worth > 0)
    return E2M1.round(ratios).reshape(matrix.shape), scales


def nv_dequantized(codes: NDArray[np.uint8], scales: NDArray[np.uint8], global_scale: float) -> NDArray[np.float64]:
    """What codes are worth by their scales and the matrix's."""
    values = in_blocks(E2M1.decode(codes), NV_BLOCK) * E4M3.decode(scales)[..., None]
    return values.reshape(codes.shape) / global_scale


TILED_SCALES = f"ceil_div(m, {TILE_ROWS}) * ceil_div(k / {NV_BLOCK}, {TILE_COLUMNS}) * {TILE_ROWS * TILE_COLUMNS}"
"""The size of an m x k NVFP4 matrix's scales in whole tiles, as a shape of `arrays`."""


def tiled_size(rows: int, columns: int) -> int:
    """How many scales there are in whole tiles."""
    return -(-rows // TILE_ROWS) * -(-columns // TILE_COLUMNS) * TILE_ROWS * TILE_COLUMNS


def tiled(scales: NDArray[Any]) -> NDArray[Any]:
    """Scales in tiles, 0 where a tile reaches beyond the matrix."""
    rows, columns = scales.shape
    result = np.zeros(tiled_size(rows, columns), scales.dtype)
    result[_all_places(rows, columns)] = scales
    return result


def untiled(tiles: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """The scales of a matrix from its tiles; those of a part have been taken out of them already."""
    if tiles.ndim > 1:
        return tiles
    return tiles[_all_places(rows, columns)]


def _all_places(rows: int, columns: int) -> NDArray[np.int64]:
    return tile_places(np.arange(rows, dtype=np.int64).reshape(-1, 1), np.arange(columns, dtype=np.int64), columns)


def tile_places(row: NDArray[np.int64], column: NDArray[np.int64], columns: int) -> NDArray[np.int64]:
    """Where tiles have the scale of a row and column: rows 0, 32, 64 and 96 lie together, then 1, 33, 65 and 97."""
    tile = row // TILE_ROWS * -(-columns // TILE_COLUMNS) + column // TILE_COLUMNS
    in_tile = row % _ROWS_TOGETHER * 16 + row % TILE_ROWS // _ROWS_TOGETHER * TILE_COLUMNS + column % TILE_COLUMNS
    return tile * (TILE_ROWS * TILE_COLUMNS) + in_tile
