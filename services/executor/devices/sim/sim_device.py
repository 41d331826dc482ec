"""The `sim` device, a simulated GPU: answers are computed on the host, times are made up by a model.

It is for tests of statistics, scheduling and faults: what a source's `// sim:` lines ask for happens, the same on every
machine. Its results say that they are simulated wherever they are shown. It is judged by all rules of a GPU: its time
passes in the simulation alone (`gpu.py`), so that a busy host does not show in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.sim.gpu import judged_ns

if TYPE_CHECKING:
    from hipcpu.build_folder import BuildKind
    from services.executor.sandboxes.sandbox import Command

_FOLDER = Path(__file__).parent
_BUILD_PROGRAM = _FOLDER / "sandboxed_build.py"


class SimulatedGpu:
    """Implements Device around the cpu device's compiler and runtime, and SimulatedClock."""

    def __init__(self, host: CpuDevice | None = None) -> None:
        self._host = host or CpuDevice()

    def within(self, cores: float) -> SimulatedGpu:
        """The same on a host with no more threads at work."""
        return SimulatedGpu(self._host.within(cores))

    def describe(self) -> DeviceDescription:
        """The host, by another name: no roofs are known of it."""
        title = "simulated GPU (times by a simulated clock)"
        return replace(self._host.describe(), name="sim", title=title, is_simulated=True, is_gpu=True)

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

    def wall_ns(self, host_ns: int) -> int:
        """With the way to the runner and back, which is never the same twice."""
        return judged_ns(host_ns)
