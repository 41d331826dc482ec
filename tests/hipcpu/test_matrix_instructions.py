"""The matrix instructions of gfx942 on the cpu device: products, modifiers, special numbers."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hipcpu import matrix_program
from tests.hipcpu.matrix_program import CASES, Case, executed
from tests.hipcpu.matrix_reference import INDEX, LANES, TYPES, WORDS, A, B, D, Words, held, packed, product


@pytest.fixture
def program(program_of: Callable[[str], Path]) -> Path:
    return program_of(matrix_program.source())


def _words(case: Case, number: Callable[[tuple[int, int]], np.ndarray], rng: np.random.Generator) -> Words:
    """Fill the operands with numbers of a shape."""
    one = case.one
    words = rng.integers(0, 1 << 32, (WORDS, LANES), dtype=np.uint32)
    for first, count, kind in zip((A, B, D), one.counts, (one.a, one.b, one.d), strict=True):
        values = packed(number((LANES, count)).astype(TYPES[kind]))
        words[first : first + len(values)] = values
    return words


def _answer(case: Case, words: Words) -> np.ndarray:
    count = case.one.counts[2] * TYPES[case.one.d].itemsize // 4
    return held(words[D : D + count], case.one.d).astype(np.float64)


@pytest.mark.parametrize("source", [matrix_program.source, matrix_program.source_with_labels])
def test_every_instruction_multiplies_whole_numbers_exactly(
    source: Callable[[], str], program_of: Callable[[str], Path]
) -> None:
    program = program_of(source())
    rng = np.random.default_rng(1)
    asked = [(case, _words(case, lambda shape: rng.integers(-8, 8, shape), rng)) for case in CASES]

    for (case, words), after in zip(asked, executed(program, asked), strict=True):
        np.testing.assert_array_equal(_answer(case, after), product(case.one, case.how, words)[0], str(case))
        assert (after[:INDEX] == words[:INDEX]).all()


@given(case=st.sampled_from(CASES), seed=st.integers(0, 2**32 - 1), scale=st.integers(-6, 6))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tiles_of_random_numbers_are_within_rounding_of_numpy(program: Path, case: Case, seed: int, scale: int) -> None:
    rng = np.random.default_rng(seed)
    integers = case.one.d == "i32"
    words = _words(
        case, lambda shape: rng.integers(-128, 128, shape) if integers else rng.normal(0, 2.0**scale, shape), rng
    )

    (after,) = executed(program, [(case, words)])

    right, size = product(case.one, case.how, words)
    unit = 0.0 if integers else 2.0**-52 if case.one.d == "f64" else 2.0**-23
    assert (np.abs(_answer(case, after) - right) <= case.one.k * unit * size).all()


def _case(builtin: str) -> Case:
    return next(case for case in CASES if case.one.builtin == builtin)


def _filled(case: Case, a: float, b: float, c: float) -> Words:
    """Return words that hold the same number everywhere in A, in B and in C, and index 0 and 1 of each 4."""
    words = np.zeros((WORDS, LANES), np.uint32)
    words[INDEX] = 0x44444444
    for first, count, kind, value in zip(
        (A, B, D), case.one.counts, (case.one.a, case.one.b, case.one.d), (a, b, c), strict=True
    ):
        values = packed(np.full((LANES, count), value).astype(TYPES[kind]))
        words[first : first + len(values)] = values
    return words


_TINY_HALF, _TINY_BFLOAT, _TINY = 2.0**-24, 2.0**-133, 2.0**-149


@pytest.mark.parametrize(
    ("builtin", "a", "b", "c", "right"),
    [
        # Subnormal numbers are kept.
        ("mfma_f32_4x4x1f32", _TINY, 1, 0, _TINY),
        ("mfma_f32_4x4x1f32", 2.0**-100, 2.0**-49, 0, _TINY),
        ("mfma_f32_4x4x1f32", 1, 0, _TINY, _TINY),
        ("mfma_f32_32x32x8f16", _TINY_HALF, 1, 0, 8 * _TINY_HALF),
        ("mfma_f32_32x32x8f16", _TINY_HALF, _TINY_HALF, 0, 2.0**-45),
        ("mfma_f32_32x32x8bf16_1k", _TINY_BFLOAT, 1, 0, 8 * _TINY_BFLOAT),
        ("mfma_f32_16x16x32_fp8_fp8", 2.0**-10, 1, 0, 2.0**-5),
        ("mfma_f32_16x16x32_bf8_bf8", 2.0**-17, 1, 0, 2.0**-12),
        ("mfma_f32_16x16x8_xf32", _TINY, 1, 0, 0),
        ("mfma_f64_4x4x4f64", 5e-324, 1, 0, 2e-323),
        # So are infinities, and NaNs come from them.
        ("mfma_f32_16x16x16f16", np.inf, 1, 0, np.inf),
        ("mfma_f32_16x16x16f16", np.inf, 1, -np.inf, np.nan),
        ("mfma_f32_16x16x16f16", np.inf, 0, 1, np.nan),
        ("mfma_f32_16x16x16bf16_1k", -np.inf, 2, 0, -np.inf),
        ("mfma_f32_16x16x16bf16_1k", 2.0**127, 2, 0, np.inf),
        ("mfma_f32_4x4x1f32", 1, 2, np.nan, np.nan),
        ("mfma_f32_16x16x8_xf32", np.nan, 1, 0, np.nan),
        ("mfma_f32_16x16x8_xf32", np.inf, 1, 0, np.inf),
        ("mfma_f32_16x16x32_fp8_bf8", np.nan, 0, 0, np.nan),
        ("mfma_f32_16x16x32_fp8_bf8", 240, 57344, 0, 32.0 * 240 * 57344),
        ("smfmac_f32_16x16x32_f16", np.inf, 0, 0, np.nan),
        ("smfmac_f32_16x16x64_bf8_fp8", np.nan, 1, 0, np.nan),
        ("mfma_f64_16x16x4f64", np.inf, 1, 0, np.inf),
        # xf32 drops the lower bits of A and B, and none of C.
        ("mfma_f32_32x32x4_xf32", 1 + 2.0**-11, 1 + 2.0**-10, 2.0**-20, 4 + 2.0**-8 + 2.0**-20),
        # Sums of integers wrap.
        ("mfma_i32_16x16x32_i8", -128, -128, 2**31 - 1, 32 * 2**14 + 2**31 - 1 - 2**32),
        ("smfmac_i32_32x32x32_i8", -128, 127, 0, -16 * 128 * 127),
        # Each product is added for itself, and the sum is rounded to the nearest, ties to even.
        ("mfma_f32_16x16x4f32", 1, 1, 2.0**24, 2.0**24),
        ("mfma_f32_16x16x16f16", 1, 1, 2.0**24, 2.0**24),
        ("mfma_f64_4x4x4f64", 1, 1, 2.0**53, 2.0**53),
        # A product is not rounded before it is added.
        ("mfma_f32_4x4x1f32", 1 + 2.0**-23, 1 + 2.0**-23, -1 - 2.0**-22, 2.0**-46),
    ],
)
def test_special_number_gives(program: Path, builtin: str, a: float, b: float, c: float, right: float) -> None:
    case = _case(builtin)

    (after,) = executed(program, [(case, _filled(case, a, b, c))])

    np.testing.assert_array_equal(_answer(case, after), np.full((LANES, case.one.counts[2]), right))


def test_wavefronts_and_lanes_may_take_ways_of_their_own(program_of: Callable[[str], Path]) -> None:
    kernels = Path(__file__).parent / "kernels"
    source = (kernels / "check.h").read_text() + (kernels / "matrix_waves.hip").read_text()

    done = subprocess.run([program_of(source)], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
