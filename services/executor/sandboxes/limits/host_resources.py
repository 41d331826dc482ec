"""What every sandbox takes from the host while it runs: a user id where we are root, and cgroups where we may."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.sandboxes.limits.cgroup import Cgroup, remove_leftover_cgroups
from services.executor.sandboxes.limits.cgroup_place import are_limited_in_cpu, open_cgroup_place
from services.executor.sandboxes.limits.sandbox_user import SandboxUser
from services.executor.sandboxes.limits.writable_mounts import lend_writable_mounts

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from services.executor.sandboxes.sandbox import Command, Limits


@dataclass(frozen=True)
class Claim:
    """One sandbox's share; `uid` is None where the sandbox runs as our own user."""

    uid: int | None
    cgroup: Cgroup | None

    @property
    def procs_files(self) -> list[str]:
        """The files through which a process enters the sandbox's cgroups."""
        return self.cgroup.procs_files if self.cgroup else []


_CHANGES_USERS = 1 << 0 | 1 << 6 | 1 << 7
"""CAP_CHOWN, CAP_SETGID and CAP_SETUID, by their numbers in linux/capability.h."""


def device_groups(command: Command) -> list[int]:
    """The groups that may use the command's device nodes, root's left out; raises OSError when one is missing."""
    return sorted({device.stat().st_gid for device in command.devices} - {0})


def may_change_users(status: str) -> bool:
    """Whether a process with that `/proc/PID/status` can make files and processes of other users.

    Root can, except in containers that took the capabilities away from it.
    """
    effective = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:")), 0)
    return effective & _CHANGES_USERS == _CHANGES_USERS


class HostResources:
    """Hands out claims; removes at the start what killed processes of ours left behind."""

    def __init__(self) -> None:
        self._may_change_users = may_change_users(Path("/proc/self/status").read_text())
        self._cgroup_parents = open_cgroup_place()
        remove_leftover_cgroups(self._cgroup_parents)

    @property
    def limits_memory(self) -> bool:
        """Whether the kernel limits the memory of whole sandboxes."""
        return bool(self._cgroup_parents)

    @property
    def limits_cpu(self) -> bool:
        """Whether the kernel limits how many processors a whole sandbox fills."""
        return are_limited_in_cpu(self._cgroup_parents)

    def claim(self, command: Command, limits: Limits, cleanup: AsyncExitStack) -> Claim:
        """Take what a sandbox for `command` needs, until `cleanup` is closed; raises OSError if a mount is missing."""
        return Claim(self.user(command, cleanup), self._cgroup(limits, cleanup))

    def user(self, command: Command, cleanup: AsyncExitStack) -> int | None:
        """A user id for a sandbox of `command`, and what it may write; None where it runs as our own user."""
        if not self._may_change_users:
            return None
        user = SandboxUser()
        cleanup.callback(user.release)
        cleanup.enter_context(lend_writable_mounts(command.mounts, user.uid))
        return user.uid

    def _cgroup(self, limits: Limits, cleanup: AsyncExitStack) -> Cgroup | None:
        if not self._cgroup_parents:
            return None
        cgroup = Cgroup(
            self._cgroup_parents, memory_mib=limits.memory_mib, processes=limits.processes, cores=limits.cores
        )
        cleanup.push_async_callback(cgroup.remove)
        return cgroup
