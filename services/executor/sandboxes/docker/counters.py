"""The kernel's counters of a container, in the groups that the engine made for it."""

from __future__ import annotations

from services.executor.sandboxes.limits.cgroup import CgroupCounters
from services.executor.sandboxes.limits.cgroup_place import cgroup_of
from services.executor.sandboxes.sandbox import SandboxError


class ContainerCounters(CgroupCounters):
    """Counters of the groups of a container's first process, and of the engine's report if they vanish too soon."""

    def __init__(self, init_pid: int) -> None:
        folders = [folder for folder in cgroup_of(init_pid) if folder.name]
        if not folders or not all(folder.is_dir() for folder in folders):
            raise SandboxError(
                "the Docker engine's processes cannot be seen from here: run the executor on the engine's own machine, "
                "outside of containers, or set EXECUTOR_SANDBOX=bubblewrap"
            )
        super().__init__(folders)
        self._reported_out_of_memory = False

    def tell_out_of_memory(self) -> None:
        """Note that the engine reports a lack of memory."""
        self._reported_out_of_memory = True

    @property
    def ran_out_of_memory(self) -> bool:
        """True if the kernel has killed a process here for lack of memory."""
        return self._reported_out_of_memory or super().ran_out_of_memory
