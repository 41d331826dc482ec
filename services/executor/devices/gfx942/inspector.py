"""Reports for the MI300X from a sandbox; implements Inspector."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from hipcpu import toolchain as cpu
from services.executor.devices.device import Toolchain
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.prepare import prepare
from services.executor.sandboxes.sandbox import Command, Mount

_BUILD = Path("/build")
_SERVICES = Path(__file__).parents[3]
_VOCABULARY = _SERVICES.with_name("vocabulary")
_PROGRAM = Path(__file__).with_name("sandboxed_report.py")


class Gfx942Inspector:
    """Makes reports with clang for gfx942; needs no GPU."""

    def toolchain(self) -> Toolchain:
        """Return the toolchain, prepared in a few seconds if it is not cached; raises ToolchainError without clang."""
        prepared = toolchain.prepared()
        if not prepared.complete:
            prepare()
        identity = hashlib.sha256(f"{prepared.compiled.name} {toolchain.steps_digest()}".encode()).hexdigest()
        return Toolchain(identity, prepared.title)

    def command(self, folder: Path) -> Command:
        """Return the Python command that runs clang and the code generator."""
        environment = {
            "PYTHONPATH": str(cpu.compiler().folder.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WAVEPOOL_CACHE_DIR": str(cpu.cache_folder()),
            "PATH": "/usr/bin:/bin",
        }
        arguments = [sys.executable, "-P", "-S", str(_PROGRAM), str(_BUILD)]
        return Command(arguments, _BUILD, [*_mounts(), Mount(folder, _BUILD, writable=True)], environment)


def _mounts() -> list[Mount]:
    """Mount folders at their own paths: precompiled headers and the Python environment name absolute paths."""
    folders = [Path(sys.prefix), Path(sys.base_prefix), cpu.PACKAGE, _SERVICES, _VOCABULARY]
    folders += [toolchain.cache_folder(), cpu.compiler().folder.parent]
    outermost = [folder for folder in folders if not any(other in folder.parents for other in folders)]
    usable = [folder for folder in dict.fromkeys(outermost) if folder != Path("/usr")]
    return [Mount(folder, folder) for folder in usable if Path("/usr") not in folder.parents]
