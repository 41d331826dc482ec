"""Links a submission's objects with the runtime and the C and C++ libraries into one static executable."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hipcpu import toolchain

_LIBRARIES = ("libc++abi.a", "libc++.a", "libunwind.a", "libc.a", "libzigc.a", "libcompiler_rt.a")
_UNDEFINED = re.compile(r"undefined symbol: (.+)")
_DUPLICATE = re.compile(r"duplicate symbol: (.+)")


class SymbolError(Exception):
    """Symbols of the program are undefined or duplicate; each argument is a sentence about one."""


class LinkError(Exception):
    """The linker failed, and the source is not to blame."""


# Parts of our runtime that run kernels, which the recorder replaces by its own.
_REPLACED_BY_RECORDER = frozenset({"cooperative", "faults", "memory", "streams", "device_facts", "workers"})


def link_recorder(objects: Sequence[Path], target: Path) -> None:
    """Write the executable that records the calls of `solution`; raises SymbolError or LinkError."""
    device = toolchain.prepared().device
    runtime = [path for path in device.glob("runtime/*.o") if path.stem not in _REPLACED_BY_RECORDER]
    _link([*objects, *sorted(device.glob("recorder/*.o")), *sorted(runtime)], target, ["--wrap=pthread_create"])


def link(objects: Sequence[Path], target: Path, options: Sequence[str] = ()) -> None:
    """Write the executable that runs kernels; raises SymbolError or LinkError."""
    _link([*objects, *sorted((toolchain.prepared().device / "runtime").glob("*.o"))], target, options)


def _link(objects: Sequence[Path], target: Path, options: Sequence[str]) -> None:
    prepared = toolchain.prepared()
    libraries = [prepared.libraries / name for name in _LIBRARIES]
    inputs = [prepared.libraries / "crt1.o", *objects, *(path for path in libraries if path.is_file())]
    command = [toolchain.compiler().program, "ld.lld", "--entry", "_start", "--gc-sections", "--eh-frame-hdr"]
    # `#pragma comment(lib, ...)` would make the linker open any file. The linker aborts if it cannot start its threads,
    # which are of no use to programs as small as ours.
    command += ["--no-dependent-libraries", "--threads=1"]
    # The C libraries contain debug information, seven eighths of a program, which every run would read and copy.
    command += ["-znow", "-m", "elf_x86_64", "-static", "--strip-debug", "--error-limit=0", *options]
    command += ["-o", str(target), *map(str, inputs)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - our linker
    if done.returncode != 0:
        faults = _symbol_faults(done.stderr)
        if faults:
            raise SymbolError(*faults)
        raise LinkError(done.stderr)


def _symbol_faults(linker_output: str) -> list[str]:
    undefined = {
        f"undefined symbol: {name}: declared and used, but not defined; a submission is one file, so define it there"
        for name in _UNDEFINED.findall(linker_output)
    }
    duplicate = {
        f"duplicate symbol: {name}: the libraries have one of that name; rename yours, or make it static"
        for name in _DUPLICATE.findall(linker_output)
    }
    return sorted(undefined | duplicate)
