"""`profile`: one checked run under the device's profiler, and a table of its kernels."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from hipcpu.build_folder import BuildKind, ToolchainError
from services.executor.core.commands.bench import ACCEPTED, BAD_USAGE, INFRASTRUCTURE, bench
from services.executor.core.sandbox.scratch import ScratchFolder
from services.executor.devices.profiling import Profiled, profiles_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from services.executor.core.model.job import CoreJob
    from services.executor.core.run.context import RunContext
    from services.executor.devices.device import Device, DeviceDescription, Toolchain
    from services.executor.devices.profiling import KernelProfile
    from services.executor.sandboxes.sandbox import Command

_NAME_WIDTH = 48


class ProfiledDevice:
    """A device whose runners run under its profiler; implements Device."""

    def __init__(self, device: Device, profiler: Profiled, folder: Path) -> None:
        self._device = device
        self._profiler = profiler
        self._folder = folder

    def describe(self) -> DeviceDescription:
        """Returns the device's own description."""
        return self._device.describe()

    def toolchain(self) -> Toolchain:
        """Returns the device's own toolchain."""
        return self._device.toolchain()

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Returns the device's own build command."""
        return self._device.build_command(folder, kind)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Returns the device's own run command under the profiler; raises ToolchainError."""
        return self._profiler.profile_command(self._device.run_command(folder, kind), self._folder)


async def profile(job: CoreJob, context: RunContext) -> int:
    """Checks `job` and prints a table of its kernels; returns the exit status."""
    device = context.device
    if not isinstance(device, Profiled):
        name = device.describe().name
        sys.stderr.write(f"--device: {name} has no profiler; rocm has one\n")
        return BAD_USAGE
    with ScratchFolder(context.scratch_parent) as folder:
        traced = replace(context, device=ProfiledDevice(device, device, folder))
        try:
            status = await bench(job, traced, as_json=False)
            if status == ACCEPTED:
                sys.stdout.write(table(profiles_of(device.dispatches(folder))))
        except (ToolchainError, ValueError) as error:
            sys.stderr.write(f"{error}\n")
            return INFRASTRUCTURE
    return status


def table(kernels: Iterable[KernelProfile]) -> str:
    """Returns a table with a row for each kernel."""
    head = f"{'kernel':<{_NAME_WIDTH}} {'launches':>8} {'median us':>12} {'total us':>12} {'share':>7}"
    rows = [
        f"{one.kernel[:_NAME_WIDTH]:<{_NAME_WIDTH}} {one.launches:>8} {one.median_ns / 1e3:>12.3f} "
        f"{one.total_ns / 1e3:>12.3f} {one.share:>6.1%}"
        for one in kernels
    ]
    return "\n".join([head, *rows, ""])
