"""Runs one of our devices over a machine described in files (`machine.py`) and the stand-in for its driver."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.devices.instruments import Firmware, Reading
from services.executor.devices.rocm import rocm_device
from services.executor.devices.rocm.gpu import Gpu
from services.executor.devices.rocm.rocm_device import RocmDevice
from services.executor.devices.rocm.sysfs import gpu_mounts
from services.executor.sandboxes.sandbox import Mount
from tests.needs import ROCM

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from hipcpu.build_folder import BuildKind
    from services.executor.sandboxes.sandbox import Command
    from tests.services.executor.sandboxes.rocm_user_space.machine import Partition

SOURCES = Path(__file__).parent
PROGRAMS = Path("/programs")
"""The place in sandboxes of the programs that `compile_programs` makes."""


def compile_programs(folder: Path) -> None:
    """Compiles the stand-in and the program that queries the runtime, for any C library since 2.28."""
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o755)
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu.2.28", "-O1", "-ldl", "-lpthread"]
    subprocess.run([*compiler, "-shared", SOURCES / "kfd_standin.c", "-o", folder / "kfd_standin.so"], check=True)
    subprocess.run([*compiler, SOURCES / "devices.c", "-o", folder / "devices"], check=True)


class StandinDevice(RocmDevice):
    """Some devices of a machine.

    `home` has the machine's `/sys`, and `programs` has the output of `compile_programs`.
    """

    def __init__(self, devices: Sequence[Partition], home: Path, programs: Path) -> None:
        """Uses plain files as render nodes, which the stand-in accepts."""
        gpus = [
            Gpu("MI300X", "gfx942", 1, 304, one.node, "SPX" if one.parts == 1 else "CPX", uuid=one.uuid)
            for one in devices
        ]
        super().__init__(*gpus)
        self._home = home
        self._programs = programs

    def bare_command(self, folder: Path, kind: BuildKind) -> Command:
        """A run's own command, with plain files as device nodes."""
        command = super().run_command(folder, kind)
        mounts = list(command.mounts)
        for node in command.devices:
            file = self._home / node.name
            file.touch()
            file.chmod(0o666)
            mounts.append(Mount(file, node))
        return replace(command, mounts=mounts, devices=())

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """The program with ROCm's libraries, their own C library, and the stand-in for the driver."""
        command = self.bare_command(folder, kind)
        libraries = ROCM / "lib" / "x86_64-linux-gnu"
        loader = libraries / "ld-linux-x86-64.so.2"
        standin = ("--library-path", str(libraries), "--preload", str(PROGRAMS / "kfd_standin.so"))
        mounts = {
            mount.target: mount for mount in (*command.mounts, Mount(ROCM, ROCM), Mount(self._programs, PROGRAMS))
        }
        return replace(command, arguments=(str(loader), *standin, *command.arguments), mounts=tuple(mounts.values()))

    def versions(self) -> Firmware:
        """No versions: the management library is a different one."""
        return Firmware("", "")

    def read_instruments(self) -> Reading:
        """No readings, for the same reason."""
        return Reading()


def show_machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes devices look for their part of `/sys` below `home`."""
    monkeypatch.setattr(rocm_device, "gpu_mounts", partial(gpu_mounts, sys=home / "sys"))
