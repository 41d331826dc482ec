"""Watches a running sandbox's resources and reports which limit it exceeds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from services.executor.sandboxes.limits.cgroup import CgroupCounters
from services.executor.sandboxes.limits.file_tree import folder_exceeds
from services.executor.sandboxes.limits.memory_use import memory_kib
from services.executor.sandboxes.process_tree import cpu_time_of, is_any_running
from services.executor.sandboxes.sandbox import Limits

# Short enough that a tree without a cgroup exceeds its memory by little, long enough to cost under 1 % of a core.
_POLL_INTERVAL = timedelta(milliseconds=30)
# Walking folders costs more than reading counters.
_FOLDER_POLL_INTERVAL = timedelta(milliseconds=300)
_LONGEST_TICK = timedelta(milliseconds=10)
"""Tick of a kernel with CONFIG_HZ=100; 4 ms are usual."""
_SETTLING_INTERVAL = timedelta(milliseconds=0.2)
"""Interval between reads, as the kernel does not signal that a thread has stopped or a tick has come."""

_PROCESSOR_PRESSURE = Path("/proc/pressure/cpu")


def waits_for_processors() -> timedelta | None:
    """How long this machine has had processes that waited for a processor; None if its kernel does not count that.

    It is the total of "some" in the kernel's pressure stall information (Documentation/accounting/psi.rst).
    """
    try:
        some = _PROCESSOR_PRESSURE.read_text().partition("total=")[2].split()
    except OSError:
        return None
    return timedelta(microseconds=int(some[0])) if some else None


class Excess(StrEnum):
    """The limit that a sandbox exceeded."""

    WALL = "wall"
    CPU = "cpu"
    MEMORY = "memory"
    FILES = "files"


class Watchdog:
    """Polls one sandbox. `pids` lists its tree; a `cgroup`, if there is one, counts and limits better than we can."""

    def __init__(
        self, limits: Limits, pids: Callable[[], list[int]], cgroup: CgroupCounters | None, folders: Sequence[Path]
    ) -> None:
        self._limits = limits
        self.pids = cgroup.pids if cgroup else pids
        """Lists the live processes of the sandbox."""
        self._cpu_time = cgroup.cpu_time if cgroup else lambda: cpu_time_of(pids())
        self._cgroup = cgroup
        self._folders = folders
        self._peak_memory_kib = 0
        self.begin()

    def begin(self) -> None:
        """Start the wall clock now."""
        self._begun = time.monotonic()
        self._waits_before = waits_for_processors()
        self._next_folder_poll = self._begun + _FOLDER_POLL_INTERVAL.total_seconds()

    @property
    def deadline(self) -> float:
        """The end of the wall time, on the monotonic clock. It moves while processes wait for processors."""
        wall, busy_wall = self._limits.wall, self._limits.busy_wall
        if busy_wall is None:
            return self._begun + wall.total_seconds()
        before, now = self._waits_before, waits_for_processors()
        if before is not None and now is not None:
            busy_wall = min(busy_wall, wall + (now - before))
        return self._begun + busy_wall.total_seconds()

    async def excess(self) -> Excess:
        """Wait until a limit is exceeded; for ever if none is."""
        while True:
            remaining = self.deadline - time.monotonic()
            if remaining <= 0:
                return Excess.WALL
            await asyncio.sleep(min(remaining, _POLL_INTERVAL.total_seconds()))
            if found := self.check():
                return found

    @property
    def peak_memory_mib(self) -> int:
        """Peak memory use, as counted by the kernel or else as seen by polling."""
        return self._cgroup.peak_memory_mib if self._cgroup else self._peak_memory_kib >> 10

    async def cpu_time(self) -> timedelta:
        """Return the sandbox's processor time so far; waits for up to a tick while a thread of it runs.

        The kernel adds a thread's time when it stops, and at each tick of its timer: a count that has not changed since
        the thread began is up to a tick behind.
        """
        last: timedelta | None = None
        deadline = time.monotonic() + _LONGEST_TICK.total_seconds()
        while is_any_running(self.pids()) and time.monotonic() < deadline:
            used = self._cpu_time()
            if last not in {None, used}:
                return used
            last = used
            await asyncio.sleep(_SETTLING_INTERVAL.total_seconds())
        return self._cpu_time()

    def check(self) -> Excess | None:
        """Return the limit exceeded now, the wall clock aside."""
        if self._cpu_time() > self._limits.cpu:
            return Excess.CPU
        if self._is_out_of_memory():
            return Excess.MEMORY
        if self._folders_are_full():
            return Excess.FILES
        return None

    def _is_out_of_memory(self) -> bool:
        if self._cgroup:
            return self._cgroup.ran_out_of_memory
        used_kib = memory_kib(self.pids())
        self._peak_memory_kib = max(self._peak_memory_kib, used_kib)
        return used_kib > self._limits.memory_mib << 10

    def _folders_are_full(self) -> bool:
        if time.monotonic() < self._next_folder_poll:
            return False
        self._next_folder_poll = time.monotonic() + _FOLDER_POLL_INTERVAL.total_seconds()
        return any(folder_exceeds(folder, self._limits.file_mib << 20) for folder in self._folders)
