"""Chooses the sandbox: the best that works, or the one that was asked for, never silently another."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from services.executor.sandboxes.docker.sandbox import open_docker_sandbox
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import Command, Limits, Sandbox, SandboxError


class UnknownSandboxError(SandboxError):
    """The setting names no known sandbox."""


class SandboxSetting(StrEnum):
    """Values of EXECUTOR_SANDBOX."""

    AUTO = "auto"
    """The best sandbox that works here; the caller logs its name and gaps."""

    REQUIRED = "required"
    """A real sandbox: bubblewrap, or else docker."""

    BUBBLEWRAP = "bubblewrap"

    DOCKER = "docker"
    """Docker; `docker:NAME` names another OCI runtime of the engine, such as gVisor's `runsc`."""

    PROCESS = "process"


# The first that works is taken. Docker comes after bubblewrap: its sandbox holds back the same but takes forty times as
# long, and its engine is one more program that runs as root.
_CANDIDATES = {
    SandboxSetting.AUTO: (SandboxSetting.BUBBLEWRAP, SandboxSetting.DOCKER, SandboxSetting.PROCESS),
    SandboxSetting.REQUIRED: (SandboxSetting.BUBBLEWRAP, SandboxSetting.DOCKER),
    SandboxSetting.BUBBLEWRAP: (SandboxSetting.BUBBLEWRAP,),
    SandboxSetting.DOCKER: (SandboxSetting.DOCKER,),
    SandboxSetting.PROCESS: (SandboxSetting.PROCESS,),
}
_ADVICE = (
    "Install bubblewrap and allow user namespaces (or run as root), or start Docker and run deploy/sandbox-image, or "
    "set EXECUTOR_SANDBOX=process and accept its gaps. In the container of a machine of vmpool's, a real sandbox takes "
    "VMPOOL_DOCKER_PRIVILEGED_BOXES=true or VMPOOL_DSTACK_PRIVILEGED=true"
)
_PROBE = Command(["/bin/true"], workdir=Path("/"))
_PROBE_LIMITS = Limits(
    wall=timedelta(seconds=10),
    cpu=timedelta(seconds=5),
    memory_mib=256,
    processes=16,
    file_mib=16,
    output_bytes=4096,
)
_chosen: dict[str, Sandbox] = {}


async def choose_sandbox(setting: str) -> Sandbox:
    """Return the sandbox for `setting`, tried out with a real program once in this process.

    Raises UnknownSandboxError, or SandboxError with advice if the sandbox does not work here.
    """
    asked, runtime = sandbox_setting(setting)
    if setting not in _chosen:
        _chosen[setting] = await _choose(asked, runtime)
    return _chosen[setting]


def sandbox_setting(setting: str) -> tuple[SandboxSetting, str | None]:
    """Parse the setting, with Docker's runtime if it names one; raises UnknownSandboxError."""
    kind, _, runtime = setting.partition(":")
    try:
        asked = SandboxSetting(kind)
    except ValueError as error:
        known = ", ".join(SandboxSetting)
        raise UnknownSandboxError(f"--sandbox or EXECUTOR_SANDBOX is {setting!r}; it must be one of {known}") from error
    if ":" in setting and (asked is not SandboxSetting.DOCKER or not runtime):
        raise UnknownSandboxError(
            f"--sandbox or EXECUTOR_SANDBOX is {setting!r}; only docker takes a runtime, as in docker:runsc"
        )
    return asked, runtime or None


async def _choose(asked: SandboxSetting, runtime: str | None) -> Sandbox:
    reasons: list[str] = []
    for candidate in _CANDIDATES[asked]:
        try:
            return await _open(candidate, runtime)
        except SandboxError as error:
            reasons.append(str(error))
    why = "; ".join(reasons)
    raise SandboxError(f"EXECUTOR_SANDBOX={asked} needs a sandbox that does not work here: {why}. {_ADVICE}")


async def _open(kind: SandboxSetting, runtime: str | None) -> Sandbox:
    if kind is SandboxSetting.PROCESS:
        return await open_process_sandbox()
    if kind is SandboxSetting.DOCKER:
        return await open_docker_sandbox(runtime)
    bubblewrap = BubblewrapSandbox()
    await _try_out(bubblewrap)
    return bubblewrap


async def _try_out(sandbox: Sandbox) -> None:
    ending = await (await sandbox.start(_PROBE, _PROBE_LIMITS)).wait()
    if ending.code != 0:
        raise SandboxError(f"{sandbox.name} could not run /bin/true: {ending.stderr.decode(errors='replace').strip()}")
