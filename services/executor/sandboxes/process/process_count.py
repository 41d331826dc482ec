"""The number of a user's processes, which the kernel counts against RLIMIT_NPROC but does not report.

Threads count like processes, and the user's processes count wherever they run. `/proc` shows only those of our own
process namespace, so in a container others of the same user are hidden. To find out if a limit leaves room for one more
process, we try to start one.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

# Precision of the count of hidden processes; each halving costs the start of a process, about a millisecond.
_PRECISION = 8


def processes_of_this_user() -> int:
    """Return the user's number of processes and threads, or slightly more; valid only without capabilities."""
    seen = _seen_processes()
    if _may_start_one_more(seen):
        return seen
    too_few, enough = seen, 2 * seen
    while not _may_start_one_more(enough):
        too_few, enough = enough, 2 * enough
    while enough - too_few > _PRECISION:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if _may_start_one_more(middle) else (middle, enough)
    return enough


def set_process_limit(processes: int) -> None:
    """Limit our user to this many processes for good, or to the present limit if that is lower."""
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    allowed = processes if most == resource.RLIM_INFINITY else min(processes, most)
    resource.setrlimit(resource.RLIMIT_NPROC, (allowed, allowed))


def _seen_processes() -> int:
    uid, threads = os.getuid(), 0
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and folder.stat().st_uid == uid:
                threads += sum(1 for _ in (folder / "task").iterdir())
    return max(1, threads)


def _may_start_one_more(processes: int) -> bool:
    """Return True if one more process may start under a limit of `processes` + 1; this tests our count."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard != resource.RLIM_INFINITY and processes >= hard:
        return True  # nothing is gained by more: the limit ends there
    resource.setrlimit(resource.RLIMIT_NPROC, (processes + 1, hard))
    try:
        child = os.fork()
    except BlockingIOError:
        return False
    else:
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        return True
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
