"""Compares kernels on the `cpu` device with the same loops in plain C++: `python benchmarks/cpu_device.py`.

Both are in one program, compiled by the same compiler at -O3 for this processor, and run on one core. The ratio is the
C++ loop's processor time over the kernel's: 1.0 means that the kernel is as fast.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hipcpu.build import build
from hipcpu.build_folder import BuildKind
from hipcpu.prepare import prepare

_SOURCE = Path(__file__).parent / "cpu_device" / "comparison.hip"
_WORST_ERROR = 1e-3


def main() -> int:
    """Prints the table and marks rows below their goal; the exit status is 1 if a result is wrong."""
    prepare()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "solution.hip").write_text(_SOURCE.read_text())
        build(folder, BuildKind.PROGRAM)
        environment = {**os.environ, "WAVEPOOL_CPU_WORKERS": "1"}
        lines = subprocess.run(
            [folder / "program"], env=environment, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    print(f"{'case':26}{'kernel ms':>12}{'C++ ms':>12}{'ratio':>8}{'goal':>7}")
    return max(_print_row(line) for line in lines)


def _print_row(line: str) -> int:
    case, *numbers = line.split()
    goal, kernel_seconds, loop_seconds, error = map(float, numbers)
    ratio = loop_seconds / kernel_seconds
    right = error < _WORST_ERROR
    remark = "" if ratio >= goal else "  below its goal"
    remark += "" if right else f"  WRONG by {error:g}"
    print(f"{case:26}{kernel_seconds * 1e3:12.3f}{loop_seconds * 1e3:12.3f}{ratio:8.2f}{goal:7.2f}{remark}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
