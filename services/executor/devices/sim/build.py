"""Compile one submission for the simulated GPU: like the cpu device, with the script's times around its calls.

The harness is unchanged: the code for the times is linked into every executable that makes calls.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hipcpu import build as cpu_build
from hipcpu.build_folder import OUR_FILES, BuildKind
from hipcpu.modules.harness import compile_our_source
from services.executor.devices.sim.script import ScriptError, script_of
from services.executor.devices.sim.simulation import DOES_NOTHING, LINK_OPTIONS, simulation_source

_SOURCE_AT_FAULT = 1
_SOURCE = "solution.hip"


def main(arguments: list[str]) -> int:
    """Build, and return the exit status of the cpu device's build."""
    folder, kind = Path(arguments[0]), BuildKind(arguments[1])
    if kind is BuildKind.PROGRAM:
        return cpu_build.main(arguments)
    try:
        script = script_of((folder / _SOURCE).read_text("utf-8", errors="replace"))
    except ScriptError as error:
        sys.stderr.write(f"{_SOURCE}:1:1: error: {error}\n")
        return _SOURCE_AT_FAULT
    does_nothing = kind is BuildKind.SOLUTION and DOES_NOTHING in (folder / OUR_FILES[kind]).read_text()
    simulation = folder / "simulation.cpp"
    simulation.write_text(simulation_source(script, does_nothing=does_nothing))
    # An error of ours in it ends the build as a fault of the toolchain.
    simulated = compile_our_source(simulation)
    return cpu_build.main(arguments, [*LINK_OPTIONS, str(simulated)])
