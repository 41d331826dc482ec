"""Link a submission's objects with the runtime and the C and C++ libraries into one static executable."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from services.executor.devices.cpu import toolchain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LIBRARIES = ("libc++abi.a", "libc++.a", "libunwind.a", "libc.a", "libzigc.a", "libcompiler_rt.a")
_UNDEFINED = re.compile(r"undefined symbol: (.+)")


class UndefinedSymbolError(Exception):
    """The program uses functions that exist nowhere; the names are the arguments."""


class LinkError(Exception):
    """The linker failed for a reason that is not the source's."""


def link(objects: Sequence[Path], target: Path) -> None:
    """Write the executable; raises UndefinedSymbolError or LinkError."""
    prepared = toolchain.prepared()
    libraries = [prepared.libraries / name for name in _LIBRARIES]
    runtime = sorted((prepared.device / "runtime").glob("*.o"))
    inputs = [prepared.libraries / "crt1.o", *objects, *runtime, *(path for path in libraries if path.is_file())]
    command = [toolchain.compiler().program, "ld.lld", "--entry", "_start", "--gc-sections", "--eh-frame-hdr"]
    command += ["-znow", "-m", "elf_x86_64", "-static", "--error-limit=0", "-o", str(target), *map(str, inputs)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - our linker
    if done.returncode != 0:
        undefined = sorted(set(_UNDEFINED.findall(done.stderr)))
        if undefined:
            raise UndefinedSymbolError(*undefined)
        raise LinkError(done.stderr)
