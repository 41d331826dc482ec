"""No input of an encoder depends on a last bit: each element is computed in fp64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

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
from problems.families.quantization import encoder_input
from problems.kit.distributions import Blocks, Distribution, recipe_of
from services.executor.core.check.chain_arithmetic import draw_rule, remade
from services.executor.core.run.installation import catalogue

CLEAR = 1e-4
"""The relative distance that the statements promise."""
SEEDS = st.integers(0, 1 << 30)
KINDS = st.sampled_from(Distribution)
BY_DEVICE = st.booleans()


def turns_of(element: SmallFloat) -> NDArray[np.float64]:
    """The midpoints between neighbouring numbers, found by decoding and independently of the module."""
    last = int(element.round(np.array([element.largest]))[0])
    numbers = element.decode(np.arange(last + 1, dtype=np.uint8))
    return (numbers[1:] + numbers[:-1]) / 2


def is_clear(sizes: NDArray[np.float64], element: SmallFloat) -> NDArray[np.bool_]:
    distances = np.abs(sizes[..., None] - turns_of(element))
    return distances.min(axis=-1) >= CLEAR * sizes


def drawn(kind: Distribution, block: int, dtype: str, seed: int, *, by_device: bool) -> tuple[NDArray[np.float64], int]:
    """The values as the host or a device draws them, with their power."""
    values, power = encoder_input(kind, (64, 8 * block), block, dtype, np.random.default_rng(seed))
    recipe = recipe_of(values)
    assert isinstance(recipe, Blocks)
    return (remade(values, draw_rule(recipe), seed, 0) if by_device else np.asarray(values)), power


@settings(max_examples=60, deadline=None)
@given(SEEDS, KINDS, BY_DEVICE)
def test_scales_and_elements_of_nvfp4_are_clear_of_every_turn_and_none_becomes_negative_zero(
    seed: int, kind: Distribution, by_device: bool
) -> None:
    matrix, power = drawn(kind, NV_BLOCK, "float16", seed, by_device=by_device)
    global_scale = 1536.0 / 2.0**power
    blocks = in_blocks(matrix.astype(np.float64), NV_BLOCK)
    largest = np.abs(blocks).max(axis=-1)
    assert largest.max() * global_scale <= E2M1.largest * E4M3.largest
    scales = largest / E2M1.largest * global_scale
    assert (largest > 0).all()
    assert is_clear(scales, E4M3).all()
    ratios = np.abs(blocks) * global_scale / E4M3.decode(E4M3.round(scales))[..., None]
    assert is_clear(ratios, E2M1).all()
    codes, _ = nv_quantized(matrix, global_scale)
    assert not np.isin(codes, E2M1.round(np.array([-0.0]))).any()
    assert set(np.unique(codes)) == set(range(16 if kind is not Distribution.POSITIVE else 8)) - {8}


@settings(max_examples=60, deadline=None)
@given(SEEDS, KINDS, BY_DEVICE, st.sampled_from([E2M1, E4M3]))
def test_no_block_of_mx_is_near_a_power_of_two_and_no_element_becomes_negative_zero(
    seed: int, kind: Distribution, by_device: bool, element: SmallFloat
) -> None:
    matrix, _ = drawn(kind, MX_BLOCK, "float32", seed, by_device=by_device)
    largest = np.abs(in_blocks(matrix.astype(np.float64), MX_BLOCK)).max(axis=-1)
    assert (np.frexp(largest)[0] <= 1 - CLEAR).all()
    codes, scales = mx_quantized(matrix, element)
    assert (scales >= 2).all()
    assert (scales <= 252).all()
    assert not np.isin(codes, element.round(np.array([-0.0]))).any()
    # There are ties, in both directions, and numbers so small that they are 0 or nearly so.
    sizes = np.abs(np.ldexp(in_blocks(matrix.astype(np.float64), MX_BLOCK), 127 - scales.astype(np.int64)[..., None]))
    ties = np.flatnonzero(np.isin(turns_of(element), sizes))
    assert set(ties % 2) == {0, 1}
    assert (element.decode(codes) == 0).any()
    assert ((np.abs(element.decode(codes)) > 0) & (np.abs(element.decode(codes)) < 2.0**-6)).any() or element is E2M1


@pytest.mark.parametrize("slug", ["mxfp4-quantize", "mxfp8-quantize", "nvfp4-quantize"])
def test_every_distribution_of_an_encoder_has_blocks_of_several_scales(slug: str) -> None:
    problem = catalogue().get(slug).problem
    for case in problem.sizes.gpu[:2]:
        inputs = problem.inputs(case, np.random.default_rng(0))
        scale = problem.reference(case, inputs)["scale"]
        assert len(np.unique(scale)) > 2
