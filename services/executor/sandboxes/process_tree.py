"""State and processor time of a process and its descendants, read from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from services.executor.sandboxes.kernel_files import kernel_text

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# fields of /proc/PID/stat after the command's closing parenthesis; cutime and cstime belong to children that ended
_STATE_FIELD = 0
_PARENT_FIELD = 1
_ENDED_CPU_FIELDS = slice(13, 15)
_THREADS_FIELD = 17
# CPUCLOCK_SCHED of the kernel's posix-timers.h
_SCHEDULED_TIME = 2


def descendants(pid: int) -> list[int]:
    """Return all live descendants of `pid`, parents first; processes that end meanwhile are left out."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def children(pid: int) -> list[int]:
    """Return the live children of all threads of `pid`."""
    return [
        int(child) for thread in threads(pid) for child in kernel_text(f"/proc/{pid}/task/{thread}/children").split()
    ]


def is_below(pid: int, ancestor: int) -> bool:
    """Return True if the live process `pid` descends from `ancestor`.

    This walks upwards, because a list of children is incomplete while some of them end.
    """
    while pid > 1:
        fields = _stat_fields(pid)
        pid = int(fields[_PARENT_FIELD]) if fields else 0
        if pid == ancestor:
            return True
    return False


def tree_pids(pid: int) -> list[int]:
    """Return `pid` and its live descendants."""
    return [pid, *descendants(pid)]


def is_any_running(pids: Iterable[int]) -> bool:
    """Return True if a thread of these processes runs or is ready to run."""
    return any(map(_is_running, pids))


def _is_running(pid: int) -> bool:
    fields = _stat_fields(pid)
    if not fields or fields[_STATE_FIELD] == "R":
        return bool(fields)
    return fields[_THREADS_FIELD] != "1" and any(
        _stat_fields(f"{pid}/task/{thread}")[:1] == ["R"] for thread in threads(pid)
    )


def threads(pid: int) -> list[str]:
    """Return the thread ids of a live process; empty if it is gone."""
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - for the same reason as in kernel_files.py
    except OSError:
        return []


def cpu_time_of(pids: Iterable[int]) -> timedelta:
    """Return the processor time of these processes, with children that they have waited for."""
    return timedelta(microseconds=sum(_own_cpu_ns(pid) / 1e3 + _ended_cpu_ns(pid) / 1e3 for pid in pids))


def _own_cpu_ns(pid: int) -> int:
    """Return the processor time of all threads of a process, ended ones included, in ns; 0 if it is gone.

    /proc counts in hundredths of a second, the process's own clock in nanoseconds. The clock's number is derived from
    the process id as in clock_getcpuclockid(3).
    """
    with suppress(OSError):
        return time.clock_gettime_ns((~pid << 3) | _SCHEDULED_TIME)
    return 0


def _ended_cpu_ns(pid: int) -> int:
    return sum(map(int, _stat_fields(pid)[_ENDED_CPU_FIELDS])) * 1_000_000_000 // _TICKS_PER_SECOND


def _stat_fields(task: object) -> list[str]:
    """Return the fields after the command of a process or of a thread PID/task/TID; empty if it is gone."""
    return kernel_text(f"/proc/{task}/stat").rpartition(")")[2].split()
