"""Block-scaled formats as kernels handle them: tables, bits of floats, and products in any order, in fp32."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from problems.kit.definition import SizeSet
from problems.library.catalogue import Catalogue
from problems.library.lazy import Call
from tests.problems.honest import F, Inputs, are_right, fail, product, to_bfloat16

FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], F)
FP8 = np.array([*(m * 2.0**-9 for m in range(8)), *((8 + m) * 2.0 ** (e - 10) for e in range(1, 16) for m in range(8))])
FP8 = FP8[:-1].astype(F)
SLUGS = [f"{name}-{kind}" for name in ("mxfp4", "mxfp8", "nvfp4") for kind in ("quantize", "dequantize", "gemm")]


def nearest(values: NDArray[Any], table: NDArray[Any]) -> NDArray[np.uint8]:
    """Compares with both neighbours; of two equally near ones, takes the even code."""
    size = np.minimum(np.abs(values), table[-1])
    above = np.searchsorted(table, size).clip(1, len(table) - 1)
    low, high = size - table[above - 1], table[above] - size
    code = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    sign = 1 << (len(table) - 1).bit_length()
    return (code + sign * np.signbit(values)).astype(np.uint8)


def value_of(codes: NDArray[np.uint8], table: NDArray[Any]) -> NDArray[Any]:
    sign = 1 << (len(table) - 1).bit_length()
    return np.where(codes & sign, F(-1), F(1)) * table[codes & (sign - 1)]


def packed(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    pairs = codes.reshape(-1, 2)
    return (pairs[:, 0] + 16 * pairs[:, 1]).astype(np.uint8).reshape(len(codes), -1)


def unpacked(stored: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.array([[byte % 16, byte // 16] for byte in range(256)], np.uint8)[stored].reshape(len(stored), -1)


def mx_quantize(v: Inputs, table: NDArray[Any], round_scale: Callable[[Any], Any] = np.floor) -> dict[str, Any]:
    """Computes the scale by a logarithm in fp32, and applies it by a reciprocal."""
    blocks = v["a"].reshape(v["m"], -1, 32)
    exponent = round_scale(np.log2(np.abs(blocks).max(axis=2))) - np.floor(np.log2(table[-1]))
    codes = nearest((blocks * np.exp2(-exponent)[..., None]).astype(F), table).reshape(v["a"].shape)
    return {"q": packed(codes) if len(table) == 8 else codes, "scale": (exponent + 127).astype(np.uint8)}


def mx_matrix(q: NDArray[np.uint8], scale: NDArray[np.uint8], table: NDArray[Any]) -> NDArray[Any]:
    codes = unpacked(q) if len(table) == 8 else q
    factors = (scale.astype(np.uint32) << 23).view(F)
    return value_of(codes, table) * np.repeat(factors, 32, axis=1)


def from_tiles(tiles: NDArray[Any], rows: int, columns: int) -> NDArray[Any]:
    """Unpacks tile by tile: 32 lines of four times four scales, of rows 32 apart."""
    wide = -(-columns // 4)
    lines = tiles.reshape(-1, wide, 32, 4, 4)
    return np.ascontiguousarray(lines.transpose(0, 3, 2, 1, 4).reshape(-1, wide * 4)[:rows, :columns])


def mx_product(v: Inputs, table: NDArray[Any]) -> NDArray[Any]:
    scales = (from_tiles(v[f"scale_{name}"], rows, v["k"] // 32) for name, rows in (("a", v["m"]), ("b", v["n"])))
    a, b = (mx_matrix(v[f"q_{name}"], scale, table) for name, scale in zip("ab", scales, strict=True))
    return product(a, b.T)


def nv_quantize(v: Inputs, order: int) -> dict[str, Any]:
    """Computes both scales and elements by products in one of two orders."""
    blocks = v["a"].astype(F).reshape(v["m"], -1, 16)
    largest, global_scale = np.abs(blocks).max(axis=2), F(v["sf_g"])
    exact = (largest * (F(1) / F(6))) * global_scale if order else largest * global_scale / F(6)
    scales = nearest(exact, FP8)
    worth = value_of(scales, FP8)[..., None]
    ratio = blocks * (F(1) / (worth * (F(1) / global_scale))) if order else blocks * global_scale / worth
    rows, columns = scales.shape
    tiles = np.zeros((-(-rows // 128), 32, 4, -(-columns // 4), 4), np.uint8)
    for row, column in itertools.product(range(rows), range(columns)):
        tiles[row // 128, row % 32, row % 128 // 32, column // 4, column % 4] = scales[row, column]
    tiled = tiles.transpose(0, 3, 1, 2, 4).reshape(-1).view(ml_dtypes.float8_e4m3fn)
    return {"q": packed(nearest(ratio, FP4).reshape(v["m"], -1)), "scale": tiled}


def nv_matrix(q: NDArray[np.uint8], scale: NDArray[Any], global_scale: float) -> NDArray[Any]:
    rows, blocks = len(q), q.shape[1] // 8
    factors = value_of(from_tiles(scale.view(np.uint8), rows, blocks), FP8)
    return value_of(unpacked(q), FP4) * np.repeat(factors * (F(1) / F(global_scale)), 16, axis=1)


def nv_product(v: Inputs) -> NDArray[Any]:
    a, b = (nv_matrix(v[f"q_{name}"], v[f"scale_{name}"], v[f"sf_g_{name}"]) for name in "ab")
    return product(a, b.T).astype(np.float16)


def scales_row_by_row(v: Inputs) -> NDArray[Any]:
    """Reads scales that lie in tiles as if they lay in rows."""
    rows = (v[f"scale_{name}"][: v[side] * v["k"] // 32].reshape(-1, v["k"] // 32) for name, side in ("am", "bn"))
    a, b = (mx_matrix(v[f"q_{name}"], scale, FP4) for name, scale in zip("ab", rows, strict=True))
    return product(a, b.T)


def ties_away_from_zero(v: Inputs, table: NDArray[Any]) -> dict[str, Any]:
    away = np.nextafter(v["a"], np.copysign(F(np.inf), v["a"]))
    return {**mx_quantize({**v, "a": away}, table), "scale": mx_quantize(v, table)["scale"]}


test_tables_and_logarithms = are_right(
    ("mxfp4-quantize", lambda v: mx_quantize(v, FP4)),
    ("mxfp8-quantize", lambda v: mx_quantize(v, FP8)),
    ("mxfp4-dequantize", lambda v: mx_matrix(v["q"], v["scale"], FP4)),
    ("mxfp8-dequantize", lambda v: mx_matrix(v["q"], v["scale"], FP8)),
    ("mxfp4-gemm", lambda v: mx_product(v, FP4)),
    ("mxfp8-gemm", lambda v: mx_product(v, FP8)),
    ("nvfp4-quantize", lambda v: nv_quantize(v, order=0)),
    ("nvfp4-quantize", lambda v: nv_quantize(v, order=1)),
    ("nvfp4-dequantize", lambda v: nv_matrix(v["q"], v["scale"], v["sf_g"])),
    ("nvfp4-gemm", nv_product),
)
test_other_scales_ties_and_sums = fail(
    ("mxfp4-quantize", 10, lambda v: mx_quantize(v, FP4, np.ceil)),
    ("mxfp8-quantize", 10, lambda v: mx_quantize(v, FP8, np.ceil)),
    ("mxfp4-quantize", 6, lambda v: ties_away_from_zero(v, FP4)),
    ("mxfp8-quantize", 6, lambda v: ties_away_from_zero(v, FP8)),
    ("mxfp4-gemm", 9, scales_row_by_row),
    ("mxfp8-gemm", 9, lambda v: to_bfloat16(mx_product(v, FP8))),
)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_element_is_nan_or_negative_zero(catalogue: Catalogue, slug: str) -> None:
    """So the MI300X's e4m3fnuz reads every byte of E4M3 as half its value."""
    problem = catalogue.get(slug).problem
    for case in (*problem.sizes.cpu, problem.hidden_case(SizeSet.CPU, np.random.default_rng(1))):
        call = Call.draw(problem, case, np.random.default_rng(2))
        for name, stored in {**call.inputs, **call.expected}.items():
            if name.startswith("q"):
                codes = stored if slug.startswith("mxfp8") else unpacked(stored)
                assert not np.isin(codes, (0x80, 0x7F, 0xFF) if slug.startswith("mxfp8") else (0x8,)).any()


def test_the_mi300xs_own_type_is_worth_half() -> None:
    codes = np.array([code for code in range(256) if code & 0x7F != 0x7F and code != 0x80], np.uint8)
    ours, amd = codes.view(ml_dtypes.float8_e4m3fn), codes.view(ml_dtypes.float8_e4m3fnuz)
    assert (ours.astype(F) == 2 * amd.astype(F)).all()
