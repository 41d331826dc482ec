"""Reports for the MI300X from a sandbox; implements Inspector."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from hipcpu import toolchain as cpu
from hipcpu.bytecode import keep_bytecode
from services.executor.devices.device import Toolchain
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.prepare import prepare
from services.executor.devices.rocm.home import rocm_home
from services.executor.sandboxes.sandbox import Command, Mount

_BUILD = Path("/build")
_SERVICES = Path(__file__).parents[3]
_VOCABULARY = _SERVICES.with_name("vocabulary")
_PROGRAM = Path(__file__).with_name("sandboxed_report.py")


class Gfx942Inspector:
    """Makes reports with clang for gfx942 and HIP's real headers; needs no GPU.

    `hip_version`, such as `7` or `6.4`, names the release of HIP that counts. If it is empty, ROCm's own counts, or
    else the newest here.
    """

    def __init__(self, hip_version: str = "") -> None:
        self._hip_version = hip_version

    def toolchain(self) -> Toolchain:
        """Return the toolchain, prepared in a few seconds if it is not cached.

        Raises ToolchainError without clang, or without HIP's headers.
        """
        releases = toolchain.releases(self._hip_version)
        if not all(one.complete for one in releases):
            prepare()
        keep_bytecode(cpu.PACKAGE)
        keep_bytecode(Path(__file__).parent)
        parts = " ".join([*(one.folder.name for one in releases), toolchain.steps_digest()])
        return Toolchain(hashlib.sha256(parts.encode()).hexdigest(), releases[0].title)

    def command(self, folder: Path) -> Command:
        """Return the Python command that runs clang and the code generator."""
        environment = {
            "PYTHONPATH": str(cpu.compiler().folder.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WAVEPOOL_CACHE_DIR": str(cpu.cache_folder()),
            "PATH": "/usr/bin:/bin",
            "ROCM_PATH": str(rocm_home()),
        }
        arguments = [sys.executable, "-P", "-S", str(_PROGRAM), str(_BUILD), self._hip_version]
        return Command(arguments, _BUILD, [*self._mounts(), Mount(folder, _BUILD, writable=True)], environment)

    def _mounts(self) -> list[Mount]:
        """Mount folders at their own paths: precompiled headers and the Python environment name absolute paths."""
        folders = [Path(sys.prefix), Path(sys.base_prefix), cpu.PACKAGE, _SERVICES, _VOCABULARY]
        folders += [toolchain.cache_folder(), cpu.compiler().folder.parent]
        # A release that is not in the cache is ROCm's own.
        for one in toolchain.releases(self._hip_version):
            folders += [one.hip.headers, one.hip.wrappers, one.hip.bitcode]
        outermost = [folder for folder in folders if not any(other in folder.parents for other in folders)]
        usable = [folder for folder in dict.fromkeys(outermost) if folder != Path("/usr")]
        return [Mount(folder, folder) for folder in usable if Path("/usr") not in folder.parents]
