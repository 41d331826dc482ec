"""Sandboxes made by bubblewrap: namespaces, a private root, no network, no capabilities, a system-call filter."""

from __future__ import annotations

import shutil
from contextlib import AsyncExitStack
from pathlib import Path

from services.executor.sandboxes.bubblewrap.arguments import (
    bubblewrap_options,
    resource_limits,
    sandboxed_program,
    system_mounts,
    user_options,
)
from services.executor.sandboxes.bubblewrap.tree import start_bubblewrap
from services.executor.sandboxes.gaps import gaps_of
from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.limits.host_resources import HostResources, device_groups
from services.executor.sandboxes.limits.watchdog import Watchdog
from services.executor.sandboxes.output import capture
from services.executor.sandboxes.process_tree import tree_pids
from services.executor.sandboxes.running_sandbox import SandboxParts, WaitingSandbox, started, whole_or_nothing
from services.executor.sandboxes.sandbox import Command, Limits, OutputListener, SandboxedProcess, SandboxError
from services.executor.sandboxes.seccomp import seccomp_filter


class BubblewrapSandbox:
    """Needs `bwrap` (Debian's package bubblewrap), as root or as an ordinary user with user namespaces.

    bwrap reports a program that signal n ended with the status 128 + n. Before Linux 6.15, which shows the difference,
    a program that exits with such a number looks like one that the signal ended.
    """

    name = "bubblewrap"

    def __init__(self) -> None:
        self._program = shutil.which("bwrap")
        self._host = HostResources()
        self._seccomp = seccomp_filter(internet=True)
        self._system = system_mounts(Path("/"))

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of bubblewrap on this machine."""
        held = {Hold.NAMESPACES, Hold.PRIVATE_ROOT}
        if self._seccomp is not None:
            held.add(Hold.SECCOMP)
        return gaps_of(held, memory_limited=self._host.limits_memory, cpu_limited=self._host.limits_cpu)

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start `command`; raises SandboxError if bwrap is missing or cannot make the sandbox."""
        return await started(self, command, limits, on_output)

    async def prepare(self, command: Command, limits: Limits) -> WaitingSandbox:
        """Make the sandbox of `command`; raises SandboxError as `start` does."""
        if self._program is None:
            raise SandboxError("bwrap is not installed: run `apt-get install bubblewrap`")
        return await whole_or_nothing(self._prepare(self._program, command, limits))

    async def _prepare(self, bwrap: str, command: Command, limits: Limits) -> WaitingSandbox:
        async with AsyncExitStack() as cleanup:
            claim = self._host.claim(command, limits, cleanup)
            options = [*user_options(claim.uid), *bubblewrap_options(command, limits, self._system)]
            program = sandboxed_program(command, resource_limits(limits), claim.uid, device_groups(command))
            tree = start_bubblewrap([bwrap, *options], program, claim.procs_files, self._seccomp)
            cleanup.push_async_callback(tree.destroy)
            readers = await tree.child.outputs()
            cleanup.callback(tree.let_go)
            await tree.make(*readers)
            captured = capture(readers, limits.output_bytes)
            watchdog = Watchdog(limits, lambda: tree_pids(tree.child.pid), claim.cgroup, command.writable_folders)
            return WaitingSandbox(SandboxParts(tree, watchdog, captured, claim.cgroup, cleanup.pop_all()))
