"""Nothing of an encoder's inputs hangs on a last bit, by arithmetic in fp64 of each element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.families.block_inputs import mx_input, nv_input
from problems.families.microscaling import (
    E2M1,
    E4M3,
    MX_BLOCK,
    NV_BLOCK,
    SmallFloat,
    in_blocks,
    mx_quantized,
    nv_quantized,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLEAR = 0.9e-4
"""Relative to the number: what the module promises, less what half-precision steps and products in fp64 err by."""
SEEDS = st.integers(0, 1 << 30)


def turns_of(element: SmallFloat) -> NDArray[np.float64]:
    """Where one number gives way to the next: found by rounding, not from the module."""
    last = int(element.round(np.array([element.largest]))[0])
    numbers = element.decode(np.arange(last + 1, dtype=np.uint8))
    return (numbers[1:] + numbers[:-1]) / 2


def is_clear(sizes: NDArray[np.float64], element: SmallFloat) -> NDArray[np.bool_]:
    distances = np.abs(sizes[..., None] - turns_of(element))
    return distances.min(axis=-1) >= CLEAR * sizes


def drawn(seed: int, scale_bits: int) -> NDArray[np.float64]:
    """Blocks of different scales: with zeros, equal largest elements, ties, and what is just below a power of two."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(64, 64)) * np.exp2(rng.integers(-scale_bits, scale_bits + 1, (64, 1)))
    values[rng.random(values.shape) < 0.05] = 0
    values[3] = 0
    values[5] = np.where(rng.random(64) < 0.5, -1, 1)
    values[7:40] = np.round(values[7:40] * 4) / 4
    values[41] = np.minimum(values[41], 0.5)
    values[41, ::16] = 1 - 2.0**-20
    return values


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([0, 3, 8]))
def test_scales_and_elements_of_nvfp4_are_clear_of_every_turn_and_none_becomes_negative_zero(
    seed: int, scale_bits: int
) -> None:
    given_values = drawn(seed, scale_bits).astype(np.float16)
    matrix, global_scale = nv_input(given_values)
    blocks = in_blocks(matrix.astype(np.float64), NV_BLOCK)
    largest = np.abs(blocks).max(axis=-1)
    assert (largest > 0).all()
    scales = largest / E2M1.largest * global_scale
    assert is_clear(scales, E4M3).all()
    worth = E4M3.decode(E4M3.round(scales))[..., None]
    ratios = np.divide(np.abs(blocks) * global_scale, worth, out=np.zeros_like(blocks), where=worth > 0)
    is_largest = np.abs(blocks) == largest[..., None]
    assert (is_clear(ratios, E2M1) | is_largest).all()
    codes, _ = nv_quantized(matrix, global_scale)
    assert not np.isin(codes, E2M1.round(np.array([-0.0]))).any()
    # Moved by a few bits at most, so that the distribution is what it was.
    assert np.allclose(np.abs(matrix)[given_values != 0], np.abs(given_values)[given_values != 0], rtol=0.02, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.sampled_from([E2M1, E4M3]), st.sampled_from([0, 30, 100]))
def test_no_block_of_mx_is_zero_or_near_a_power_of_two_and_no_element_becomes_negative_zero(
    seed: int, element: SmallFloat, scale_bits: int
) -> None:
    matrix = mx_input(drawn(seed, scale_bits).astype(np.float32), element, np.random.default_rng(seed))
    largest = np.abs(in_blocks(matrix.astype(np.float64), MX_BLOCK)).max(axis=-1)
    assert (largest > 0).all()
    assert (np.frexp(largest)[0] <= 1 - CLEAR).all()
    codes, scales = mx_quantized(matrix, element)
    assert not np.isin(codes, element.round(np.array([-0.0]))).any()
    # Ties are planted, in both directions.
    sizes = np.abs(np.ldexp(in_blocks(matrix.astype(np.float64), MX_BLOCK), 127 - scales.astype(np.int64)[..., None]))
    assert np.isin(sizes, turns_of(element)).any()
