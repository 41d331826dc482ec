"""Control groups for sandboxes: the kernel's limits on memory, processors and processes of a whole tree.

Version 2 has one hierarchy; version 1 has one per controller, so a sandbox is one folder there and several here. A
group's name holds our process id and its namespace, so that groups left by a killed process are recognised and
removed. A process in another namespace, as in a container that sees the same groups, cannot tell who lives.

Processor time is limited by quota: in each period of 100 ms a sandbox's threads run for at most `cores` times as long.
Up to `cores` threads never use up the quota, so they are never stopped, and the limit does not change their times.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import itertools
import os
import signal
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from services.executor.sandboxes.kernel_files import kernel_text

_PREFIX = "wavepool-sandbox"
_PERIOD_MICROSECONDS = 100_000
_LEAST_QUOTA_MICROSECONDS = 1000
"""Smallest quota that the kernel accepts."""
_SERIAL = itertools.count()
_EMPTYING_INTERVAL_SECONDS = 0.001
_MOST_BUSY_SECONDS = 5.0
"""A group that looks empty may be busy for a moment more, as a process comes into it or is not quite gone."""


class CgroupCounters:
    """The kernel's counters of one group, or of version 1's groups, of which the last counts processor time."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = list(folders)
        # Read twice for each order of a runner.
        self._procs, self._usage = self.folders[0] / "cgroup.procs", self.folders[-1] / "cpuacct.usage"

    @property
    def ran_out_of_memory(self) -> bool:
        """True if the kernel has killed a process here for lack of memory."""
        return self.killed_for_memory > 0

    @property
    def killed_for_memory(self) -> int:
        """Number of processes that the kernel has killed here for lack of memory."""
        counts = itertools.chain.from_iterable(
            _pairs(folder / name) for folder in self.folders for name in ("memory.events", "memory.oom_control")
        )
        return max((value for key, value in counts if key == "oom_kill"), default=0)

    @property
    def peak_memory_mib(self) -> int:
        """Peak memory use; 0 if the kernel does not report it."""
        names = ("memory.peak", "memory.max_usage_in_bytes")
        return max((_number(folder / name) for folder in self.folders for name in names), default=0) >> 20

    @property
    def refused_processes(self) -> bool:
        """True if the kernel has refused a process or thread here because there were too many."""
        counts = itertools.chain.from_iterable(_pairs(folder / "pids.events") for folder in self.folders)
        return any(key == "max" and value > 0 for key, value in counts)

    def cpu_time(self) -> timedelta:
        """Return the processor time of all processes that ever ran here."""
        microseconds = _number(self._usage) // 1000
        if not microseconds:
            microseconds = dict(_pairs(self.folders[-1] / "cpu.stat")).get("usage_usec", 0)
        return timedelta(microseconds=microseconds)

    def pids(self) -> list[int]:
        """Return the live processes here; each enters the first group first."""
        return [int(line) for line in kernel_text(self._procs).split()]


class Cgroup(CgroupCounters):
    """The group or groups of one sandbox; raises OSError if they cannot be made.

    If memory runs out, the kernel ends all processes of the sandbox with `ends_whole`, else only some.
    """

    def __init__(
        self, parents: Iterable[Path], *, memory_mib: int, processes: int, cores: float, ends_whole: bool = True
    ) -> None:
        name = f"{_PREFIX}-{os.getpid()}-{_process_namespace()}-{next(_SERIAL)}"
        super().__init__(parent / name for parent in parents)
        try:
            for folder in self.folders:
                folder.mkdir()
                _limit(folder, memory_mib << 20, processes, ends_whole=ends_whole)
                limit_cpu(folder, cores)
        except OSError:
            self.remove_folders()
            raise

    @property
    def procs_files(self) -> list[str]:
        """The files to which a process writes 0 in order to enter."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    async def remove(self) -> None:
        """Kill the remaining processes, wait until they are gone, and remove the groups."""
        last_seen = time.monotonic()
        while (pids := self.pids()) or not self.remove_folders():
            if pids:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _MOST_BUSY_SECONDS:
                return
            for pid in pids:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(_EMPTYING_INTERVAL_SECONDS)

    def remove_folders(self) -> bool:
        """Remove the groups that are empty; returns True if none is left."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


def limit_cpu(folder: Path, cores: float) -> None:
    """Limit a group's processes to `cores` processors' worth of time, if the group has that controller."""
    if cores >= (os.cpu_count() or 1):
        return  # a limit that holds nothing back
    quota = max(int(cores * _PERIOD_MICROSECONDS), _LEAST_QUOTA_MICROSECONDS)
    if (folder / "cpu.max").exists():
        (folder / "cpu.max").write_text(f"{quota} {_PERIOD_MICROSECONDS}")
    if (folder / "cpu.cfs_quota_us").exists():
        (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_MICROSECONDS))
        try:
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
        except OSError as error:
            # A parent group allows less, and holds the sandbox to that.
            if error.errno != errno.EINVAL:
                raise


def remove_leftover_cgroups(parents: Iterable[Path]) -> None:
    """Remove groups of dead makers of our process namespace; if one has processes, kill them and leave it to later."""
    names = f"{_PREFIX}-*-{_process_namespace()}-*"
    for folder in itertools.chain.from_iterable(parent.glob(names) for parent in parents):
        maker = folder.name.removeprefix(f"{_PREFIX}-").partition("-")[0]
        if Path("/proc", maker).exists():
            continue
        for pid in kernel_text(folder / "cgroup.procs").split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            folder.rmdir()


def _process_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _limit(folder: Path, memory_bytes: int, processes: int, *, ends_whole: bool) -> None:
    limits = {
        "pids.max": processes,
        "memory.max": memory_bytes,
        "memory.swap.max": 0,
        "memory.oom.group": int(ends_whole),
        "memory.limit_in_bytes": memory_bytes,
        "memory.memsw.limit_in_bytes": memory_bytes,
    }
    for name, value in limits.items():
        if (folder / name).exists():
            (folder / name).write_text(str(value))


def _pairs(file: Path) -> Iterator[tuple[str, int]]:
    for line in kernel_text(file).splitlines():
        key, _, value = line.partition(" ")
        if value.isdecimal():
            yield key, int(value)


def _number(file: Path) -> int:
    text = kernel_text(file).strip()
    return int(text) if text.isdecimal() else 0
