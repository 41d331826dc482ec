"""Starts Chromium so that it does not see the machine's network interfaces come and go.

It drops the requests under way when one does (net::ERR_NETWORK_CHANGED), and other tests start containers meanwhile.
It hears of them through netlink, so those sockets are refused to it; without them it takes the machine for online.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import struct
import sys
from pathlib import Path

from services.executor.sandboxes.kernel_calls import PR_SET_NO_NEW_PRIVS, load_seccomp, prctl

PROGRAMS = ("chromium-headless-shell", "chromium")
"""The first that is there. The second draws a browser's own windows too, for half as much processor time again."""
_SOCKET = {"x86_64": 41, "aarch64": 198}
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_CALL, _FIRST_ARGUMENT = 0, 16


def launcher(folder: Path) -> Path:
    """A program in `folder` that starts Chromium with its own arguments."""
    program = folder / "chromium"
    program.write_text(f'#!/bin/sh\nexec env PYTHONPATH={Path.cwd()} {sys.executable} -m {__name__} "$@"\n')
    program.chmod(0o755)
    return program


def _without_netlink() -> bytes:
    steps = [
        (_LOAD, 0, 0, _CALL),
        (_EQUAL, 0, 3, _SOCKET[os.uname().machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 0, 1, socket.AF_NETLINK),
        (_RETURN, 0, 0, _ERRNO | errno.EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


if __name__ == "__main__":
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    load_seccomp(_without_netlink())
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 - the browser
