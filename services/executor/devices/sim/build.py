"""Compile one submission for the simulated device: as for the cpu device, with the script's times around its calls."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from services.executor.devices.cpu import build as cpu_build
from services.executor.devices.device import BuildKind
from services.executor.devices.sim.harness import GPU_VARIABLE, link_options, simulated_harness
from services.executor.devices.sim.script import ScriptError, script_of

_SOURCE_AT_FAULT = 1
_HARNESS, _SOURCE = "harness.cpp", "solution.hip"


def main(arguments: list[str]) -> int:
    """The exit status, as of the cpu device's build."""
    folder, kind = Path(arguments[0]), BuildKind(arguments[1])
    if kind is BuildKind.PROGRAM:
        return cpu_build.main(arguments)
    try:
        script = script_of((folder / _SOURCE).read_text("utf-8", errors="replace"))
    except ScriptError as error:
        sys.stderr.write(f"{_SOURCE}:1:1: error: {error}\n")
        return _SOURCE_AT_FAULT
    harness = folder / _HARNESS
    is_gpu = os.environ.get(GPU_VARIABLE) == "1"
    text = simulated_harness(harness.read_text(), script, is_gpu=is_gpu)
    # The judge's file is not ours to write, but the folder is.
    harness.unlink()
    harness.write_text(text)
    return cpu_build.main(arguments, link_options(is_gpu=is_gpu))
