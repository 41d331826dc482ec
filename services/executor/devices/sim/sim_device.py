"""The `sim` device: answers are computed on the host, times are made up by a model.

It is for tests of statistics, scheduling and faults: what a source's `// sim:` lines ask for happens, the same on every
machine. Its results say that they are simulated wherever they are shown.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import BuildKind, DeviceDescription, Toolchain

if TYPE_CHECKING:
    from services.executor.sandboxes.sandbox import Command

_FOLDER = Path(__file__).parent
_BUILD_PROGRAM = _FOLDER / "boxed_build.py"


class SimDevice:
    """Implements Device around the cpu device's compiler and runtime."""

    def __init__(self) -> None:
        self._host = CpuDevice()

    def describe(self) -> DeviceDescription:
        """The host, by another name: no roofs are known of it, and it is no GPU."""
        host = self._host.describe()
        return replace(host, name="sim", title="simulated device (times from a noise model)", is_simulated=True)

    def toolchain(self) -> Toolchain:
        """The host's, with what makes the times."""
        host = self._host.toolchain()
        steps = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_FOLDER.glob("*.py"))))
        return Toolchain(f"{host.identity}-sim-{steps.hexdigest()}", f"{host.title}, simulated times")

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """The host's, with our program in place of its own."""
        command = self._host.build_command(folder, kind)
        python, *options = command.arguments[:-3]
        return replace(command, arguments=[python, *options, str(_BUILD_PROGRAM), *command.arguments[-2:]])

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """The host's."""
        return self._host.run_command(folder, kind)
