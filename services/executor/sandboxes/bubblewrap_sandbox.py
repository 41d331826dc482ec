"""Boxes made by bubblewrap: namespaces, a root of its own, no network, no capabilities, a system-call filter."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.box_user import BoxUser
from services.executor.sandboxes.bubblewrap_arguments import (
    boxed_program,
    bubblewrap_options,
    system_mounts,
    user_options,
)
from services.executor.sandboxes.bubblewrap_tree import start_bubblewrap
from services.executor.sandboxes.cgroup import Cgroup, cgroup_parents, remove_leftover_cgroups
from services.executor.sandboxes.output import capture
from services.executor.sandboxes.process_tree import tree_usage
from services.executor.sandboxes.running_box import BoxParts, RunningBox
from services.executor.sandboxes.sandbox import SandboxError
from services.executor.sandboxes.seccomp import seccomp_filter
from services.executor.sandboxes.watchdog import Watchdog
from services.executor.sandboxes.writable_mounts import lend_writable_mounts

if TYPE_CHECKING:
    from services.executor.sandboxes.sandbox import BoxedProcess, Command, Limits, OutputListener


class BubblewrapSandbox:
    """Needs `bwrap` (Debian's package bubblewrap), as root or as an ordinary user with user namespaces.

    bwrap reports a program that signal n ended by the status 128 + n; so do we, as signal n.
    """

    name = "bubblewrap"

    def __init__(self) -> None:
        self._program = shutil.which("bwrap")
        self._is_root = os.geteuid() == 0
        self._cgroup_parents = cgroup_parents()
        self._seccomp = seccomp_filter(internet=True)
        self._system = system_mounts(Path("/"))
        remove_leftover_cgroups(self._cgroup_parents)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What this machine does not let bubblewrap hold back."""
        gaps: list[str] = []
        if not self._cgroup_parents:
            gaps.append("memory is read every 30 ms, not limited by the kernel: a box can overshoot for that long")
        if self._seccomp is None:
            gaps.append("there is no system-call filter for this processor architecture")
        return tuple(gaps)

    async def start(self, command: Command, limits: Limits, on_output: OutputListener | None = None) -> BoxedProcess:
        """Start `command`; raises SandboxError when bwrap is missing or cannot make the box."""
        if self._program is None:
            raise SandboxError("bwrap is not installed: run `apt-get install bubblewrap`")
        with ExitStack() as cleanup:
            uid = self._box_uid(command, cleanup)
            cgroup = self._cgroup(limits, cleanup)
            options = [*user_options(uid), *bubblewrap_options(command, limits, self._system)]
            program = boxed_program(command, limits, uid)
            entering = cgroup.procs_files if cgroup else ()
            tree = await start_bubblewrap([self._program, *options], program, entering, self._seccomp)
            captured = await capture(tree.child, limits.output_bytes, on_output)
            await tree.check_started(captured)
            watchdog = Watchdog(limits, lambda: tree_usage(tree.child.pid), cgroup, command.writable_folders)
            return RunningBox(BoxParts(tree, watchdog, captured, cgroup, cleanup.pop_all()))

    def _box_uid(self, command: Command, cleanup: ExitStack) -> int | None:
        if not self._is_root:
            return None
        user = BoxUser()
        cleanup.callback(user.release)
        cleanup.enter_context(lend_writable_mounts(command.mounts, user.uid))
        return user.uid

    def _cgroup(self, limits: Limits, cleanup: ExitStack) -> Cgroup | None:
        if not self._cgroup_parents:
            return None
        cgroup = Cgroup(self._cgroup_parents, memory_mib=limits.memory_mib, processes=limits.processes)
        cleanup.callback(cgroup.remove_folders)
        return cgroup
