"""Fill the cache for gfx942: `python -m services.executor.devices.gfx942.prepare [--fetch]`.

This takes a few seconds, once per compiler, device library and edit of our headers. If this machine has no device
library of AMD's, Debian's is unpacked into the cache first if possible; with `--fetch` a failure to do so is an error.
"""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from hipcpu import toolchain as cpu
from hipcpu.build_folder import ToolchainError
from hipcpu.prepare import PRECOMPILED, Part, build_parts, run_tool
from services.executor.devices.gfx942 import device_library, toolchain

if TYPE_CHECKING:
    from pathlib import Path
    from typing import TextIO


def prepare(progress: TextIO | None = None) -> toolchain.Prepared:
    """Build the missing parts; raises ToolchainError with the compiler's messages if that fails."""
    prepared = toolchain.prepared()
    parts = (Part("headers", prepared.include, _copy_headers), Part("prelude", prepared.compiled, _compile))
    build_parts("gfx942 compiler", parts, progress)
    return prepared


def _copy_headers(folder: Path) -> None:
    for package in (cpu.PACKAGE, toolchain.PACKAGE):
        shutil.copytree(package / "include", folder, dirs_exist_ok=True)


def _compile(folder: Path) -> None:
    include = toolchain.prepared().include
    prelude = str(include / "wavepool" / "prelude.h")
    run_tool(toolchain.clang(include, *PRECOMPILED, prelude, "-o", str(folder / "prelude.pch")))
    library = device_library.find(toolchain.cache_folder())
    source = toolchain.PACKAGE / "math" / ("from_ocml.hip" if library else "as_calls.hip")
    command = [cpu.compiler().program, "clang", "-cc1", *toolchain.target_options(), "-O2", "-emit-llvm-bc"]
    if library:
        _compile_answers(folder / "answers.bc")
        for linked in (library.bitcode, folder / "answers.bc"):
            command += ["-mlink-builtin-bitcode", str(linked)]
    run_tool([*command, str(source), "-o", str(folder / "mathematics.bc")])


def _compile_answers(target: Path) -> None:
    source = str(toolchain.PACKAGE / "math" / "answers.ll")
    command = [cpu.compiler().program, "clang", "-cc1", "-triple", toolchain.TRIPLE, "-x", "ir", "-emit-llvm-bc"]
    run_tool([*command, source, "-o", str(target)])


def _fetch(*, is_needed: bool) -> None:
    if is_needed:
        device_library.fetch(toolchain.cache_folder())
    elif why_not := device_library.fetch_if_possible(toolchain.cache_folder()):
        text = f"no device library could be fetched: {why_not.splitlines()[0]}\nto have one, {device_library.REMEDY}"
        print(text, file=sys.stderr)  # noqa: T201  a command-line program


def main(arguments: list[str]) -> int:
    """Prepare, and print the tools; returns the exit status."""
    try:
        if device_library.find(toolchain.cache_folder()) is None:
            _fetch(is_needed="--fetch" in arguments)
        prepared = prepare(sys.stderr)
    except ToolchainError as error:
        print(error, file=sys.stderr)  # noqa: T201  a command-line program
        return 1
    print(f"gfx942 reports ready: {prepared.title}")  # noqa: T201  the same
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
