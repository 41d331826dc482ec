from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from hipcpu import toolchain
from hipcpu.bytecode import keep_bytecode
from services.executor.devices import gfx942
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.gfx942.inspector import Gfx942Inspector
from tests.needs import REPOSITORY


def compiled_by_itself(module: str, *packages: Path) -> list[str]:
    """The files in `packages` that a Python without the right to write bytecode compiles to import `module`."""
    path = os.pathsep.join(str(part) for part in (REPOSITORY, toolchain.compiler().folder.parent))
    done = subprocess.run(
        [sys.executable, "-v", "-P", "-S", "-B", "-c", f"import {module}"],
        env={"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.findall(r"^# code object from (.*\.py)$", done.stderr, re.MULTILINE)
    return [file for file in found if any(Path(file).is_relative_to(package) for package in packages)]


def test_builds_and_reports_find_the_bytecode_of_all_their_steps() -> None:
    CpuDevice().toolchain()
    assert compiled_by_itself("hipcpu.build", toolchain.PACKAGE) == []
    Gfx942Inspector().toolchain()
    assert compiled_by_itself(f"{gfx942.__name__}.report", toolchain.PACKAGE, Path(gfx942.__file__).parent) == []


def test_a_module_is_compiled_again_when_it_was_edited(tmp_path: Path) -> None:
    module = tmp_path / "step.py"
    module.write_text("found = 1")
    keep_bytecode(tmp_path)
    [kept] = tmp_path.glob("__pycache__/step.*.pyc")
    before = kept.read_bytes()
    module.write_text("found = 22")
    os.utime(module, (0, 0))
    keep_bytecode.__wrapped__(tmp_path)
    assert kept.read_bytes() != before
