"""What a process and all its descendants are and use, read from /proc."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# fields of /proc/PID/stat after the command's closing parenthesis: utime, stime, cutime, cstime
_CPU_FIELDS = slice(11, 15)
_PARENT_FIELD = 1
_PROC = Path("/proc")


class Usage(NamedTuple):
    """What a process tree uses; memory is what it alone fills: anonymous and shared, without mapped files."""

    cpu: timedelta
    memory_kib: int


def descendants(pid: int) -> list[int]:
    """All live descendants of `pid`, parents first; those that vanish while we look are left out."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def children(pid: int) -> list[int]:
    """The live children of all threads of `pid`."""
    try:
        threads = [folder.name for folder in (_PROC / str(pid) / "task").iterdir()]
    except OSError:
        return []
    return [int(child) for thread in threads for child in _read(f"{pid}/task/{thread}/children").split()]


def is_below(pid: int, ancestor: int) -> bool:
    """Whether the live process `pid` descends from `ancestor`.

    We look upwards: a list of children is not complete while some of them end.
    """
    while pid > 1:
        fields = _read(f"{pid}/stat").rpartition(")")[2].split()
        pid = int(fields[_PARENT_FIELD]) if fields else 0
        if pid == ancestor:
            return True
    return False


def tree_usage(pid: int) -> Usage:
    """What `pid` and its descendants use now, with the CPU time of children that they have waited for."""
    pids = [pid, *descendants(pid)]
    ticks = sum(map(_cpu_ticks, pids))
    return Usage(timedelta(seconds=ticks / _TICKS_PER_SECOND), sum(map(_memory_kib, pids)))


def _cpu_ticks(pid: int) -> int:
    fields = _read(f"{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, fields[_CPU_FIELDS]))


def _memory_kib(pid: int) -> int:
    lines = (line.split() for line in _read(f"{pid}/status").splitlines())
    return sum(int(words[1]) for words in lines if words and words[0] in {"RssAnon:", "RssShmem:"})


def _read(name: str) -> str:
    try:
        return (_PROC / name).read_text(errors="replace")
    except OSError:
        return ""
