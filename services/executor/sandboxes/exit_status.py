"""The exit status of a process that is not our child, as the kernel reports it.

Programs that wait for another (bwrap, a shell) pass on signal n as the status 128 + n, which also stands for a program
that exits with that number. Since Linux 6.15 the kernel gives the wait status of an ended process to anyone who held a
pidfd of it (PIDFD_GET_INFO, include/uapi/linux/pidfd.h).
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
from typing import Self

from services.executor.sandboxes.process_tree import children

_INFO_EXIT = 1 << 3
# struct pidfd_info in its first size: mask, cgroup id, eleven ids, and the wait status
_INFO = struct.Struct("=QQ11Ii")
# _IOWR(0xFF, 11, struct pidfd_info)
_GET_INFO = (3 << 30) | (_INFO.size << 16) | (0xFF << 8) | 11
_SIGNAL_STATUS_BASE = 128


class ExitWitness:
    """Holds a pidfd of one process to learn how it ends."""

    def __init__(self, pid: int) -> None:
        self._pidfd = os.pidfd_open(pid)
        self._knows = True

    @classmethod
    def of_only_child(cls, parent_pid: int) -> Self | None:
        """Return a witness of the only child of `parent_pid`, or None if it cannot be found."""
        try:
            [pid] = children(parent_pid)
            return cls(pid)
        except (OSError, ValueError):
            return None

    @property
    def is_reported_at_all(self) -> bool:
        """True if this kernel can report how a process ended."""
        return self._knows

    def wait_status(self) -> int | None:
        """Return the status as `os.waitpid` does, once the process was waited for; None if the kernel gives none."""
        if self._pidfd < 0:
            return None
        info = bytearray(_INFO.pack(_INFO_EXIT, *[0] * 13))
        try:
            fcntl.ioctl(self._pidfd, _GET_INFO, info)
        except OSError:
            self._knows = False
            return None
        mask, *_, status = _INFO.unpack(info)
        return status if mask & _INFO_EXIT else None

    def close(self) -> None:
        """Close the pidfd; safe to call twice."""
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


def wait_status_of(exit_code: int) -> int:
    """Return the likely wait status for an exit code, if the kernel gives none: 128 + n means signal n."""
    number = exit_code - _SIGNAL_STATUS_BASE
    return number if 0 < number < signal.NSIG else exit_code << 8
