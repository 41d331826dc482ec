"""Ends the processes that an `up` left behind: all that have its mark in their environment.

Services start processes of their own (machines of the local provider) that may outlive them. All inherit the mark, so
they are found even after they get another parent.

Run as a program, `python -S sweep.py MARK`, this waits until standard input closes, which happens when `up` ends, even
by a crash, and then sweeps. `up` starts one beside the services.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

MARK_VARIABLE = "WAVEPOOL_UP_MARK"
PAUSE_SECONDS = 0.05
ROUNDS = 100


def marked_processes(mark: str) -> list[int]:
    """The ids of all processes with this mark except our own; processes that we may not read are not ours."""
    needle = f"{MARK_VARIABLE}={mark}".encode()
    return [pid for pid in _process_ids() if pid != os.getpid() and needle in _environment(pid)]


def sweep(mark: str) -> int:
    """Kills all marked processes and waits until they are gone; returns the number that are left, 0 on success."""
    for _ in range(ROUNDS):
        remaining = marked_processes(mark)
        if not remaining:
            return 0
        for pid in remaining:
            _kill(pid)
        time.sleep(PAUSE_SECONDS)
    return len(marked_processes(mark))


def _process_ids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Waits for the end of `up`, then sweeps."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin.buffer.read()
    sys.exit(1 if sweep(sys.argv[1]) else 0)


if __name__ == "__main__":
    main()
