"""The host resources of a running sandbox: a user id if we are root, and cgroups if we may make them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from services.executor.sandboxes.limits.cgroup import Cgroup, remove_leftover_cgroups
from services.executor.sandboxes.limits.cgroup_place import are_limited_in_cpu, open_cgroup_place
from services.executor.sandboxes.limits.sandbox_user import FIRST_UID, LAST_UID, SandboxUser, lend_writable_mounts
from services.executor.sandboxes.sandbox import Command, Limits


@dataclass(frozen=True)
class Claim:
    """One sandbox's share; `uid` is None if the sandbox runs as our own user."""

    uid: int | None
    cgroup: Cgroup | None

    @property
    def procs_files(self) -> list[str]:
        """The files to write to in order to enter the sandbox's cgroups."""
        return self.cgroup.procs_files if self.cgroup else []


_CHANGES_USERS = 1 << 0 | 1 << 6 | 1 << 7
"""CAP_CHOWN, CAP_SETGID and CAP_SETUID, by their numbers in linux/capability.h."""


def device_groups(command: Command) -> list[int]:
    """Return the groups of the command's device nodes, without root's; raises OSError if a node is missing."""
    return sorted({device.stat().st_gid for device in command.devices} - {0})


def may_change_users(process: Path = Path("/proc/self")) -> bool:
    """Return True if a process can make files and processes of the users that sandboxes have.

    Root can, except in containers that dropped its capabilities, and in user namespaces without these users.
    """
    status = (process / "status").read_text("ascii", "replace")
    effective = next((int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff:")), 0)
    if effective & _CHANGES_USERS != _CHANGES_USERS:
        return False
    return all(_has_sandbox_users((process / name).read_text("ascii")) for name in ("uid_map", "gid_map"))


def _has_sandbox_users(id_map: str) -> bool:
    parts = [(int(first), int(count)) for first, _, count in map(str.split, id_map.splitlines())]
    return any(first <= FIRST_UID and first + count > LAST_UID for first, count in parts)


class HostResources:
    """Hands out claims; at the start it removes what our killed processes left behind."""

    def __init__(self) -> None:
        self._may_change_users = may_change_users()
        self._cgroup_parents = open_cgroup_place()
        remove_leftover_cgroups(self._cgroup_parents)

    @property
    def limits_memory(self) -> bool:
        """True if the kernel limits the memory of whole sandboxes."""
        return bool(self._cgroup_parents)

    @property
    def limits_cpu(self) -> bool:
        """True if the kernel limits the processor time of whole sandboxes."""
        return are_limited_in_cpu(self._cgroup_parents)

    def claim(self, command: Command, limits: Limits, cleanup: AsyncExitStack, *, ends_whole: bool = True) -> Claim:
        """Claim a sandbox's resources for `command` until `cleanup` is closed; raises OSError if a mount is missing.

        If memory runs out, the kernel ends the whole sandbox with `ends_whole`, else only some of its processes.
        """
        return Claim(self.user(command, cleanup), self._cgroup(limits, cleanup, ends_whole=ends_whole))

    def user(self, command: Command, cleanup: AsyncExitStack) -> int | None:
        """Return a user id that owns the writable mounts of `command`; None if the sandbox runs as our own user."""
        if not self._may_change_users:
            return None
        user = SandboxUser()
        cleanup.callback(user.release)
        cleanup.enter_context(lend_writable_mounts(command.mounts, user.uid))
        return user.uid

    def _cgroup(self, limits: Limits, cleanup: AsyncExitStack, *, ends_whole: bool) -> Cgroup | None:
        if not self._cgroup_parents:
            return None
        cgroup = Cgroup(
            self._cgroup_parents,
            memory_mib=limits.memory_mib,
            processes=limits.processes,
            cores=limits.cores,
            ends_whole=ends_whole,
        )
        cleanup.push_async_callback(cgroup.remove)
        return cgroup
