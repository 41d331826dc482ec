"""The cpu device's 8-bit floats, bit by bit."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np

from hipcpu.build import build
from hipcpu.build_folder import BuildKind

CODES = 256
NUMBERS = 1 << 17
STEP = 0x8000
TYPES = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)


def test_8_bit_floats_are_those_of_ml_dtypes_and_saturate(tmp_path: Path) -> None:
    source = Path(__file__).parent / "kernels/fp8.hip"
    (tmp_path / "solution.hip").write_text(source.read_text())
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, timeout=60, check=True)

    numbers = (np.arange(NUMBERS, dtype=np.uint64) * STEP).astype(np.uint32).view(np.float32)
    size = 4 * CODES + NUMBERS
    assert len(done.stdout) == size * len(TYPES)
    for at, kind in enumerate(TYPES):
        answer = done.stdout[at * size : (at + 1) * size]
        decoded, encoded = np.frombuffer(answer[: 4 * CODES], np.float32), np.frombuffer(answer[4 * CODES :], np.uint8)
        worth = np.arange(CODES, dtype=np.uint8).view(kind).astype(np.float32)
        np.testing.assert_array_equal(decoded, worth)
        assert (np.signbit(decoded) == np.signbit(worth))[~np.isnan(worth)].all()
        largest = float(ml_dtypes.finfo(kind).max)
        nan = np.isnan(numbers)
        right = np.clip(numbers[~nan], -largest, largest).astype(kind)
        assert (encoded[~nan] == right.view(np.uint8)).all()
        assert np.isnan(encoded.view(kind)[nan].astype(np.float32)).all()
