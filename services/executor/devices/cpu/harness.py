"""Compile the harness that the core writes from a problem's signature: plain C++ that calls `solution`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from services.executor.devices.cpu import toolchain
from services.executor.devices.device import ToolchainError

if TYPE_CHECKING:
    from pathlib import Path

_HARNESS = "harness.cpp"


def compile_harness(folder: Path) -> Path:
    """Compile `folder`/harness.cpp; an error in it is ours, so it raises ToolchainError."""
    target = folder / "harness.o"
    options = ("-x", "c++", "-emit-obj", _HARNESS, "-o", str(target))
    command = toolchain.compiler().clang(toolchain.prepared().include, *options)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our compiler
    if done.returncode != 0:
        raise ToolchainError(f"the harness does not compile:\n{done.stderr}")
    return target
