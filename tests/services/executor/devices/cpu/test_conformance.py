"""Every feature of HIP that the cpu device promises, in both forms that kernels take."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from services.executor.devices.cpu.build import build
from services.executor.devices.device import BuildKind

_KERNELS = Path(__file__).parent / "kernels"


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    "case", ["language", "cross_lane", "arithmetic", "host_api", "foreign", "rare_names", "strangers"]
)
def test_program_computes_what_hip_says(case: str, tmp_path: Path) -> None:
    source = (_KERNELS / "check.h").read_text() + (_KERNELS / f"{case}.hip").read_text()
    (tmp_path / "solution.hip").write_text(source)
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=False)

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
