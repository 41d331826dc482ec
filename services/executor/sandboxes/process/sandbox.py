"""Sandboxes made with the kernel alone, for machines without bubblewrap; they list their gaps."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.gaps import gaps_of
from services.executor.sandboxes.launch_order import Hold, LaunchOrder
from services.executor.sandboxes.limits.file_tree import remove_tree
from services.executor.sandboxes.limits.host_resources import Claim, HostResources, device_groups
from services.executor.sandboxes.limits.kernel_limits import kernel_limits
from services.executor.sandboxes.limits.watchdog import Watchdog
from services.executor.sandboxes.output import capture
from services.executor.sandboxes.process.tree import start_launcher
from services.executor.sandboxes.process_tree import tree_pids
from services.executor.sandboxes.running_sandbox import SandboxParts, WaitingSandbox, started, whole_or_nothing
from services.executor.sandboxes.sandbox import Command, Limits, OutputListener, SandboxedProcess, SandboxError

_TRIAL = Command(["/bin/true"], workdir=Path("/"))
_TRIAL_LIMITS = Limits(timedelta(seconds=10), timedelta(seconds=5), 256, processes=16, file_mib=16, output_bytes=4096)


class ProcessSandbox:
    """Uses namespaces, a private root, Landlock and a system-call filter, as far as the kernel allows each.

    Make one with `open_process_sandbox`, which tries them out. A sandbox that turns out weaker than that is refused.
    """

    name = "process"

    def __init__(self, held: Collection[Hold] = (), forgo: Collection[Hold] = ()) -> None:
        self._held = frozenset(held)
        self._forgo = list(forgo)
        self._host = HostResources()

    @property
    def gaps(self) -> tuple[str, ...]:
        """Gaps of the sandboxes on this machine's kernel."""
        return gaps_of(self._held, memory_limited=self._host.limits_memory, cpu_limited=self._host.limits_cpu)

    async def start(
        self, command: Command, limits: Limits, on_output: OutputListener | None = None
    ) -> SandboxedProcess:
        """Start `command`; raises SandboxError if the sandbox would have more gaps than `gaps` lists."""
        return await started(self, command, limits, on_output)

    async def prepare(self, command: Command, limits: Limits) -> WaitingSandbox:
        """Make the sandbox of `command`; raises SandboxError as `start` does."""
        return await whole_or_nothing(self._prepare(command, limits))

    async def _prepare(self, command: Command, limits: Limits) -> WaitingSandbox:
        prepared, held = await self.launch(command, limits)
        if not held >= self._held:
            await prepared.discard()
            raise SandboxError(f"the sandbox came out without {', '.join(sorted(self._held - held))}")
        return prepared

    async def launch(self, command: Command, limits: Limits) -> tuple[WaitingSandbox, frozenset[Hold]]:
        """Make the sandbox of `command` and return its holds too."""
        async with AsyncExitStack() as cleanup:
            claim = self._host.claim(command, limits, cleanup)
            order = self._order(command, limits, claim, _scratch_folder(claim.uid, cleanup))
            tree = await start_launcher(order)
            cleanup.push_async_callback(tree.destroy)
            captured = capture(await tree.child.outputs(), limits.output_bytes)
            held = await tree.check_made(captured)
            folders = [*command.writable_folders, Path(order.scratch)]
            watchdog = Watchdog(limits, lambda: tree_pids(tree.child.pid), claim.cgroup, folders)
            return WaitingSandbox(SandboxParts(tree, watchdog, captured, claim.cgroup, cleanup.pop_all())), held

    def _order(self, command: Command, limits: Limits, claim: Claim, scratch: str) -> LaunchOrder:
        return LaunchOrder(
            parent_pid=os.getpid(),
            arguments=list(command.arguments),
            workdir=str(command.workdir),
            environment=dict(command.environment),
            mounts=[(str(mount.source), str(mount.target), mount.writable) for mount in command.mounts],
            scratch=scratch,
            tmp_bytes=limits.file_mib << 20,
            resources=kernel_limits(limits),
            processes=limits.processes,
            procs_files=claim.procs_files,
            uid=claim.uid,
            devices=[str(device) for device in command.devices],
            groups=device_groups(command),
            forgo=self._forgo,
        )


async def open_process_sandbox(forgo: Collection[Hold] = ()) -> ProcessSandbox:
    """Return the strongest sandbox of this machine without the holds in `forgo`; raises SandboxError if it fails."""
    prepared, held = await ProcessSandbox(forgo=forgo).launch(_TRIAL, _TRIAL_LIMITS)
    ending = await (await prepared.start()).wait()
    if ending.code != 0:
        raise SandboxError(f"a plain sandbox cannot run /bin/true: {ending.stderr.decode(errors='replace').strip()}")
    return ProcessSandbox(held, forgo)


def _scratch_folder(uid: int | None, cleanup: AsyncExitStack) -> str:
    """Make the sandbox's temporary folder; it is removed once no process can swap names under us."""
    folder = tempfile.mkdtemp(prefix="wavepool-sandbox-")
    cleanup.callback(remove_tree, Path(folder))
    if uid is not None:
        os.chown(folder, uid, uid)
    return folder
