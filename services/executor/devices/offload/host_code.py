"""The recorder of a GPU's build: the cpu device's compiler makes it from the host code (`cpu/build.py`)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hipcpu.build_folder import NOT_RECORDABLE, RECORDER, BuildKind, ToolchainError
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.sandbox import Mount

_BUILD = Path("/build")


def recorder_command(folder: Path) -> str:
    """Return a shell command that makes the recorder in /build/host; `folder` is mounted at /build.

    If the cpu device's compiler is not available, the command writes down why instead.
    """
    try:
        command = CpuDevice().build_command(folder, BuildKind.SOLUTION)
    except ToolchainError as error:
        return f"{shlex.join(['echo', str(error)])} >{_BUILD / 'host' / NOT_RECORDABLE}"
    settings = [f"{name}={value}" for name, value in command.environment.items()]
    return shlex.join(["env", "-i", *settings, *command.arguments[:-2], str(_BUILD / "host"), RECORDER])


def recorder_mounts(folder: Path) -> Sequence[Mount]:
    """Return the existing mounts that this command reads."""
    try:
        mounts = CpuDevice().build_command(folder, BuildKind.SOLUTION).mounts
    except ToolchainError:
        return []
    return [mount for mount in mounts if not mount.writable and mount.source.exists()]


def recorder_identity() -> str:
    """Return an identity that changes if a recorder could come out differently.

    It is empty without the cpu device's compiler: builds then have no recorder, and say so.
    """
    try:
        return CpuDevice().toolchain().identity
    except ToolchainError:
        return ""
