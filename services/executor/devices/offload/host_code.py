"""How a GPU's build gets its recorder: the cpu device's compiler makes it of the host code (`cpu/build.py`)."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from hipcpu.build_folder import NOT_RECORDABLE, RECORDER, BuildKind, ToolchainError
from services.executor.devices.cpu.cpu_device import CpuDevice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.sandboxes.sandbox import Mount

_BUILD = Path("/build")


def recorder_command(folder: Path) -> str:
    """What a shell in the build's sandbox is given to make the recorder in /build/host; `folder` is /build's own.

    Where the cpu device's compiler cannot be had, it says so instead.
    """
    try:
        command = CpuDevice().build_command(folder, BuildKind.SOLUTION)
    except ToolchainError as error:
        return f"{shlex.join(['echo', str(error)])} >{_BUILD / 'host' / NOT_RECORDABLE}"
    settings = [f"{name}={value}" for name, value in command.environment.items()]
    return shlex.join(["env", "-i", *settings, *command.arguments[:-2], str(_BUILD / "host"), RECORDER])


def recorder_mounts(folder: Path) -> Sequence[Mount]:
    """What that command reads, as far as it is there."""
    try:
        mounts = CpuDevice().build_command(folder, BuildKind.SOLUTION).mounts
    except ToolchainError:
        return []
    return [mount for mount in mounts if not mount.writable and mount.source.exists()]


def recorder_identity() -> str:
    """Changes whenever a recorder could come out differently; empty if the cpu device's compiler cannot be had.

    Builds have no recorder then, and say so.
    """
    try:
        return CpuDevice().toolchain().identity
    except ToolchainError:
        return ""
