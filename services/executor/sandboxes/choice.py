"""Which box this machine gives us: the best that works, or the one that was asked for, never another in silence."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.bubblewrap_sandbox import BubblewrapSandbox
from services.executor.sandboxes.process_sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Command, Limits, SandboxError

if TYPE_CHECKING:
    from services.executor.sandboxes.sandbox import Sandbox


class SandboxSetting(StrEnum):
    """The values of EXECUTOR_SANDBOX."""

    AUTO = "auto"
    """The best box that works here; the caller logs its name and its gaps."""

    REQUIRED = "required"
    """A real box or nothing: refuse to run with less than bubblewrap."""

    BUBBLEWRAP = "bubblewrap"
    PROCESS = "process"


_PROBE = Command(["/bin/true"], workdir=Path("/"))
_PROBE_LIMITS = Limits(
    wall=timedelta(seconds=10),
    cpu=timedelta(seconds=5),
    memory_mib=256,
    processes=16,
    file_mib=16,
    output_bytes=4096,
)
_chosen: dict[SandboxSetting, Sandbox] = {}


async def choose_sandbox(setting: str) -> Sandbox:
    """The box for `setting`, tried out with a real program once in this process.

    Raises SandboxError, with what to install or set, when `setting` is unknown or its box does not work here.
    """
    try:
        asked = SandboxSetting(setting)
    except ValueError as error:
        known = ", ".join(SandboxSetting)
        raise SandboxError(f"EXECUTOR_SANDBOX is {setting!r}; it must be one of {known}") from error
    if asked not in _chosen:
        _chosen[asked] = await _choose(asked)
    return _chosen[asked]


async def _choose(asked: SandboxSetting) -> Sandbox:
    if asked is SandboxSetting.PROCESS:
        return await open_process_sandbox()
    bubblewrap = BubblewrapSandbox()
    try:
        await _try_out(bubblewrap)
    except SandboxError as error:
        if asked is SandboxSetting.AUTO:
            return await open_process_sandbox()
        raise SandboxError(
            f"EXECUTOR_SANDBOX={asked} needs a box that does not work here: {error}. Install bubblewrap and allow "
            "user namespaces (or run as root), or set EXECUTOR_SANDBOX=process and accept its gaps"
        ) from error
    return bubblewrap


async def _try_out(sandbox: Sandbox) -> None:
    ending = await (await sandbox.start(_PROBE, _PROBE_LIMITS)).wait()
    if ending.code != 0:
        raise SandboxError(f"{sandbox.name} could not run /bin/true: {ending.stderr.decode(errors='replace').strip()}")
