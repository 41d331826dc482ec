"""The `sim` device, a simulated GPU: answers are computed on the host, times come from a model.

It is for tests of statistics, scheduling and faults: a source's `// sim:` lines say what happens, the same on every
machine. Its results are marked as simulated wherever they are shown. All rules of a GPU apply to it. Its time passes
only in the simulation (`gpu.py`), so a busy host does not change it.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from hipcpu.build_folder import BuildKind
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.sim.gpu import judged_ns
from services.executor.sandboxes.sandbox import Command

_FOLDER = Path(__file__).parent
_BUILD_PROGRAM = _FOLDER / "sandboxed_build.py"


class SimulatedGpu:
    """Implements Device and SimulatedClock around the cpu device's compiler and runtime."""

    def __init__(self, host: CpuDevice | None = None) -> None:
        self._host = host or CpuDevice()

    def within(self, cores: float) -> SimulatedGpu:
        """Return the same device on a host with at most `cores` threads at work."""
        return SimulatedGpu(self._host.within(cores))

    def describe(self) -> DeviceDescription:
        """Describe the host under another name, for which no roofs are known."""
        title = "simulated GPU (times by a simulated clock)"
        return replace(self._host.describe(), name="sim", title=title, is_simulated=True, is_gpu=True)

    def toolchain(self) -> Toolchain:
        """Return the host's toolchain with the code for the times."""
        host = self._host.toolchain()
        steps = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_FOLDER.glob("*.py"))))
        return replace(
            host, identity=f"{host.identity}-sim-{steps.hexdigest()}", title=f"{host.title}, simulated times"
        )

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the host's build command with our program in place of its own."""
        command = self._host.build_command(folder, kind)
        python, *options = command.arguments[:-3]
        return replace(command, arguments=[python, *options, str(_BUILD_PROGRAM), *command.arguments[-2:]])

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the host's run command."""
        return self._host.run_command(folder, kind)

    def wall_ns(self, host_ns: int) -> int:
        """Add the way to the runner and back, which differs each time."""
        return judged_ns(host_ns)
