"""Every feature of HIP that the cpu device promises, in both forms of kernels."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_KERNELS = Path(__file__).parent / "kernels"


@pytest.mark.parametrize(
    "case",
    [
        "language",
        "cross_lane",
        "arithmetic",
        "host_api",
        "graphs",
        "stream_capture",
        "foreign",
        "rare_names",
        "hip_names",
        "unsaid",
        "collectives",
        "loops",
        "flash_attention",
        "amd_builtins",
        "amd_memory",
        "amd_assembly",
        pytest.param("rocm_blocks", marks=pytest.mark.rocm_libraries),
        # Half a minute to compile each.
        pytest.param("rocm_device", marks=[pytest.mark.rocm_libraries, pytest.mark.soak]),
        pytest.param("rocm_sort", marks=[pytest.mark.rocm_libraries, pytest.mark.soak]),
    ],
)
def test_program_computes_what_hip_says(case: str, program_of: Callable[[str], Path]) -> None:
    source = (_KERNELS / "check.h").read_text() + (_KERNELS / f"{case}.hip").read_text()
    done = subprocess.run([program_of(source)], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
