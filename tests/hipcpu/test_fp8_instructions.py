"""The conversion instructions of gfx942 for 8-bit floats, against ml_dtypes and against the published pseudocode."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from hipcpu.build import build
from hipcpu.build_folder import BuildKind

CODES = np.arange(256, dtype=np.uint8)
OLD = 0x12345678
TYPES = {"fp8": np.dtype(ml_dtypes.float8_e4m3fnuz), "bf8": np.dtype(ml_dtypes.float8_e5m2fnuz)}
SEED_BITS = {"fp8": 20, "bf8": 21}
"""The upper bits of a seed that are added: S1[31:12] and S1[31:11] in AMD's instruction set document."""


def _numbers() -> np.ndarray:
    """Numbers all over the range of float, ties between codes, and what is special."""
    spread = (np.arange(1 << 14, dtype=np.uint64) << 18).astype(np.uint32).view(np.float32)
    ties = [values[1:] / 2 + values[:-1] / 2 for kind in TYPES.values() for values in (_worth(kind),)]
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 240, 247.9, 248, -248, 57344, 61439, 61440, 1e-30]
    return np.concatenate([spread, *ties, *(-each for each in ties), np.array(special, np.float32)])


def _worth(kind: np.dtype) -> np.ndarray:
    values = CODES.view(kind).astype(np.float32)
    return np.unique(values[values >= 0])


def _random(numbers: np.ndarray, seeds: np.ndarray, name: str) -> np.ndarray:
    """Go down to the next code, or up if the seed is at least as much as is missing to the upper one."""
    worth = _worth(TYPES[name]).astype(np.float64)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        sizes = np.abs(numbers.astype(np.float64))
        lower = np.clip(np.searchsorted(worth, sizes, side="right") - 1, 0, len(worth) - 1)
        step = np.where(lower + 1 < len(worth), np.append(worth[1:], 0)[lower] - worth[lower], worth[-1] - worth[-2])
        share = (sizes - worth[lower]) / step
        code = lower + np.floor(share + (seeds >> (32 - SEED_BITS[name])) * 2.0 ** -SEED_BITS[name])
    known = np.isfinite(sizes) & (code < len(worth))
    sign = np.where(np.signbit(numbers), 0x80, 0)
    return np.where(known, np.where(code == 0, 0, sign + np.where(known, code, 0)), 0x80).astype(np.uint8)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The numbers and seeds that were encoded, the decoded codes, and the encoded words."""
    folder = tmp_path_factory.mktemp("fp8")
    source = Path(__file__).parent / "kernels/fp8_instructions.hip"
    (folder / "solution.hip").write_text(source.read_text())
    build(folder, BuildKind.PROGRAM)
    numbers = _numbers()
    seeds = np.random.default_rng(1).integers(0, 1 << 32, len(numbers), dtype=np.uint32)
    seeds[::7], seeds[::11] = 0, 0xFFFFFFFF
    given = np.int32(len(numbers)).tobytes() + numbers.tobytes() + seeds.tobytes()
    done = subprocess.run([folder / "program"], input=given, capture_output=True, timeout=60, check=True)
    decoded, encoded = done.stdout[: 40 * 256], done.stdout[40 * 256 :]
    return numbers, seeds, np.frombuffer(decoded, np.float32).reshape(10, 256), np.frombuffer(encoded, np.uint32)


def test_each_code_of_each_byte_is_decoded_as_ml_dtypes_does(answers: tuple[np.ndarray, ...]) -> None:
    decoded = answers[2]

    for row, name in zip(decoded, ["fp8"] * 3 + ["bf8"] * 3 + ["fp8", "bf8"], strict=False):
        np.testing.assert_array_equal(row, CODES.view(TYPES[name]).astype(np.float32))
    for row, name in zip(decoded[8:], TYPES, strict=True):
        np.testing.assert_array_equal(row, np.roll(CODES, -1).view(TYPES[name]).astype(np.float32))


@pytest.mark.parametrize(("first", "name"), [(0, "fp8"), (2, "bf8")])
def test_pairs_go_to_the_nearest_code_and_overflow_to_nan(
    answers: tuple[np.ndarray, ...], first: int, name: str
) -> None:
    numbers, _, _, words = answers
    lower, upper = words.reshape(8, -1)[first : first + 2]

    with np.errstate(invalid="ignore"):  # signalling NaNs
        right = numbers.astype(TYPES[name]).view(np.uint8).astype(np.uint32)
    pair = right | np.roll(right, -1) << 8
    np.testing.assert_array_equal(lower, pair | (OLD & 0xFFFF0000))
    np.testing.assert_array_equal(upper, pair << 16 | (OLD & 0xFFFF))
    assert (pair[np.isinf(numbers)] & 0xFF == 0x80).all()


@pytest.mark.parametrize(("row", "name", "byte"), [(4, "fp8", 0), (5, "fp8", 2), (6, "bf8", 1), (7, "bf8", 3)])
def test_stochastic_rounding_adds_the_upper_bits_of_the_seed(
    answers: tuple[np.ndarray, ...], row: int, name: str, byte: int
) -> None:
    numbers, seeds, _, words = answers

    right = _random(numbers, seeds.astype(np.uint64), name).astype(np.uint32) << (8 * byte)
    np.testing.assert_array_equal(words.reshape(8, -1)[row], right | (OLD & ~(0xFF << 8 * byte)))
