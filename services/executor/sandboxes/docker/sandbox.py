"""Sandboxes made by the Docker engine of this machine: one container each, used once and removed."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.docker.container import (
    bind,
    container_configuration,
    host_configuration,
    security_options,
    system_folders,
)
from services.executor.sandboxes.docker.counters import ContainerCounters
from services.executor.sandboxes.docker.engine import DockerEngine
from services.executor.sandboxes.docker.tree import DockerTree, shows_processes
from services.executor.sandboxes.gaps import gaps_of
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.limits.host_resources import HostResources, device_groups
from services.executor.sandboxes.limits.watchdog import Watchdog
from services.executor.sandboxes.output import FramedOutput
from services.executor.sandboxes.running_sandbox import SandboxParts, WaitingSandbox, started, whole_or_nothing
from services.executor.sandboxes.sandbox import Command, Limits, Mount, OutputListener, SandboxedProcess, SandboxError
from services.executor.sandboxes.seccomp import seccomp_profile

IMAGE = "wavepool-sandbox:1"
"""Image made by `deploy/sandbox-image`; any other needs /bin/sh, /usr/bin/env and whatever commands need."""
_SYSTEM_LABEL = "wavepool.system"
_SYSTEM_OF_HOST = "host"
_START_SECONDS = 60.0
_TRIAL = Command(["/bin/true"], workdir=Path("/"))
_TRIAL_LIMITS = Limits(timedelta(seconds=30), timedelta(seconds=5), 256, processes=16, file_mib=16, output_bytes=4096)


class DockerSandbox:
    """A sandbox of Docker; make one with `open_docker_sandbox`, which tries the engine out.

    `runtime` is an OCI runtime of the engine; None means its default. `system` lists the host's programs that a sandbox
    gets. `witnessed` is True if a sandbox's processes can be seen from outside.
    """

    def __init__(
        self, engine: DockerEngine, runtime: str | None = None, system: tuple[Path, ...] = (), *, witnessed: bool
    ) -> None:
        self.name = f"docker:{runtime}" if runtime else "docker"
        self._engine = engine
        self._runtime = runtime
        self._binds = [bind(Mount(path, path)) for path in system]
        self._witnessed = witnessed
        self._host = HostResources()

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of the engine's sandboxes on this machine."""
        return gaps_of({Hold.NAMESPACES, Hold.PRIVATE_ROOT, Hold.SECCOMP}, memory_limited=True, cpu_limited=True)

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start `command`; raises SandboxError if the engine cannot make the sandbox."""
        return await started(self, command, limits, on_output)

    async def prepare(self, command: Command, limits: Limits) -> WaitingSandbox:
        """Make the sandbox of `command`; raises SandboxError as `start` does."""
        return await whole_or_nothing(self._prepare(command, limits))

    async def sees_processes(self) -> bool:
        """Return True if a sandbox's processes can be seen from here; raises SandboxError if /bin/true cannot run."""
        async with AsyncExitStack() as cleanup:
            name = await self._make(_TRIAL, _TRIAL_LIMITS, cleanup)
            output, tree = await self._attach(name, _TRIAL_LIMITS, cleanup)
            pid = await self._begin(name, output)
            seen = shows_processes(pid)
            tree.watch(pid, ContainerCounters(pid), witnessed=False)
            tree.release()
            status = await tree.wait_status()
        if status != 0:
            raise SandboxError(f"a Docker sandbox cannot run /bin/true: it ended with {status}")
        return seen

    async def _prepare(self, command: Command, limits: Limits) -> WaitingSandbox:
        async with AsyncExitStack() as cleanup:
            name = await self._make(command, limits, cleanup)
            output, tree = await self._attach(name, limits, cleanup)
            pid = await self._begin(name, output)
            counters = ContainerCounters(pid)
            tree.watch(pid, counters, witnessed=self._witnessed)
            watchdog = Watchdog(limits, list, counters, command.writable_folders)
            return WaitingSandbox(SandboxParts(tree, watchdog, output.capture(), counters, cleanup.pop_all()))

    async def _make(self, command: Command, limits: Limits, cleanup: AsyncExitStack) -> str:
        uid = self._host.user(command, cleanup)
        user = f"{os.getuid()}:{os.getgid()}" if uid is None else f"{uid}:{uid}"
        host = host_configuration(command, limits, self._binds, device_groups(command), self._runtime)
        host |= security_options(seccomp_profile())
        container = container_configuration(command, IMAGE, user, witnessed=self._witnessed)
        name = await self._engine.create({**container, "HostConfig": host})
        cleanup.push_async_callback(self._engine.remove, name)
        return name

    async def _attach(self, name: str, limits: Limits, cleanup: AsyncExitStack) -> tuple[FramedOutput, DockerTree]:
        reader, writer = await asyncio.open_connection(sock=await self._engine.attach(name))
        tree = DockerTree(self._engine, name, writer)
        cleanup.callback(tree.let_go)
        return FramedOutput(reader, limits.output_bytes), tree

    async def _begin(self, name: str, output: FramedOutput) -> int:
        """Start the container and wait until its program can begin; returns the process id of its first process."""
        await self._engine.start(name)
        async with asyncio.timeout(_START_SECONDS):
            said = await output.first_frame()
        state = await self._engine.state(name)
        if said != b"\n" or not state["Running"]:
            words = said.decode(errors="replace").strip()
            raise SandboxError(
                f"the Docker engine cannot make a sandbox: {words or state.get('Error') or 'no reason given'}"
            )
        return int(state["Pid"])


async def open_docker_sandbox(runtime: str | None = None, address: str | None = None) -> DockerSandbox:
    """Open and try out the sandbox; raises SandboxError with advice if there is no engine, image or runtime."""
    engine = DockerEngine(address)
    known = await engine.runtimes()
    if runtime is not None and runtime not in known:
        raise SandboxError(
            f"the Docker engine has no runtime {runtime!r}; it has {', '.join(known)}. Add it to daemon.json, or "
            "choose another by EXECUTOR_SANDBOX=docker:NAME"
        )
    labels = await engine.image_labels(IMAGE)
    if labels is None:
        raise SandboxError(f"the Docker engine has no image {IMAGE}: run deploy/sandbox-image, which makes it")
    system = tuple(system_folders(Path("/"))) if labels.get(_SYSTEM_LABEL) == _SYSTEM_OF_HOST else ()
    seen = await DockerSandbox(engine, runtime, system, witnessed=False).sees_processes()
    return DockerSandbox(engine, runtime, system, witnessed=seen)
