"""Fill the cache for gfx942: `python -m services.executor.devices.gfx942.prepare [--fetch]`.

This takes a few seconds, once per compiler and release of HIP. If this machine lacks HIP's headers, Debian's are
unpacked into the cache first if possible; with `--fetch` a failure to do so is an error. The `cpu` device then takes
hipCUB, rocPRIM and Thrust from there.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TextIO

from hipcpu.build_folder import ToolchainError
from hipcpu.prepare import PRECOMPILED, Part, build_parts, run_tool
from hipcpu.prepare import prepare as prepare_cpu
from services.executor.devices.gfx942 import hip_files, toolchain
from services.executor.devices.gfx942.toolchain import Prepared


def prepare(wanted: str = "", progress: TextIO | None = None) -> tuple[Prepared, ...]:
    """Build the missing parts of all releases of HIP, and return them as `releases` does; raises ToolchainError."""
    found = toolchain.releases(wanted)
    for one in found:
        part = Part(f"HIP {one.hip.version}'s headers", one.folder, partial(_compile, one))
        build_parts("gfx942 compiler", (part,), progress)
    return found


def _compile(prepared: Prepared, folder: Path) -> None:
    header = str(toolchain.PACKAGE / "include" / "prelude.h")
    started = prepared.start(precompiled=False)
    run_tool(prepared.clang(*PRECOMPILED, *started, header, "-o", str(folder / prepared.prelude.name)))


def _fetch(*, is_needed: bool) -> None:
    if is_needed:
        hip_files.fetch(toolchain.cache_folder())
    elif why_not := hip_files.fetch_if_possible(toolchain.cache_folder()):
        text = f"HIP's headers could not be fetched: {why_not.splitlines()[0]}\nto have them, {hip_files.REMEDY}"
        print(text, file=sys.stderr)  # noqa: T201  a command-line program


def main(arguments: list[str]) -> int:
    """Prepare, and print the tools; returns the exit status."""
    is_needed = "--fetch" in arguments
    try:
        if not hip_files.find(toolchain.cache_folder()):
            _fetch(is_needed=is_needed)
        # With the libraries of headers that were just fetched.
        prepare_cpu(sys.stderr)
        for prepared in prepare(progress=sys.stderr):
            print(f"gfx942 reports ready: {prepared.title}")  # noqa: T201  the same
    except ToolchainError as error:
        print(error, file=sys.stderr)  # noqa: T201  a command-line program
        # Without HIP's headers there are no reports, and everything else works.
        return 1 if is_needed or hip_files.find(toolchain.cache_folder()) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
