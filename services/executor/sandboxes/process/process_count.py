"""How many processes a user has: the kernel counts them against RLIMIT_NPROC and tells the number to nobody.

Threads count as processes do, and the user's processes count wherever they run. `/proc` shows those of our own process
namespace only, so in a container others of the same user are hidden. Whether a limit leaves room for one more process
is found by trying to start one.
"""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

# How exactly hidden processes are counted; each halving costs the start of a process, about a millisecond.
_PRECISION = 8


def processes_of_this_user() -> int:
    """The user's processes and threads, never too few; for a sandbox that has no capability to go beyond limits."""
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
    """Let our user have this many processes, or as many as it may where that is less; for good."""
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
    """Whether a user with this many processes is below the limit that it has itself; the kernel's word on our count."""
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
