"""Threads that would wait for each other forever on a GPU: the process names them and the place, and ends."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hipcpu.build import build
from hipcpu.build_folder import BuildKind

_DIVERGENCE_EXIT = 86
_MAIN = "int main() { k<<<1, 64>>>(); }\n"


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (
            "__global__ void k() {\n if (threadIdx.x < 9) __syncthreads();\n else __syncthreads();\n}\n",
            "divergent __syncthreads within one wavefront",
        ),
        (
            "__global__ void k() {\n if (threadIdx.x < 10) __syncwarp(~0ull);\n else __syncthreads();\n}\n",
            "deadlock between a cross-lane operation and __syncthreads",
        ),
    ],
)
def test_threads_that_wait_for_each_other_are_reported(kernel: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text(kernel + _MAIN)
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == _DIVERGENCE_EXIT
    assert said in done.stderr
    assert "waits at line 2" in done.stderr
    assert "waits at line 3" in done.stderr


def test_failed_assertion_in_a_kernel_aborts(tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text("__global__ void k() { assert(threadIdx.x != 5); }\n" + _MAIN)
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == -6
    assert "threadIdx.x != 5" in done.stderr
