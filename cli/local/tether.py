"""Runs a program that dies with its starter: `python -S tether.py PARENT_PID PROGRAM ARGUMENT...`.

The kernel's parent-death signal survives exec, so this file sets it and becomes the program. It is run by path, without
site-packages, and imports only the standard library, so it starts in a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Sets the parent-death signal, then becomes the program."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:  # the parent died before the signal was set
        sys.exit(1)
    os.execvp(program[0], program)  # noqa: S606 - becoming the program is the purpose


if __name__ == "__main__":
    main()
