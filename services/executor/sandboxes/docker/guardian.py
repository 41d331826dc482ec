"""Removes the containers of a process that died without doing so: `guardian.py DESCRIPTOR SOCKET`.

An engine's containers do not end with the process that asked for them. So that process tells the guardian, over a pipe,
which containers it makes (`+NAME`) and which it has removed (`-NAME`). When the pipe closes, for whatever reason, the
guardian removes the rest and ends. It is started by path and uses only Python's standard library.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import time

# A container may appear after its owner's death if the engine was still making it.
_ATTEMPTS = 20
_ATTEMPT_INTERVAL_SECONDS = 0.25
_NO_SUCH_CONTAINER = b"404"
_DONE = b"204"


def main() -> None:
    """Listen until the owner's end, then remove its containers."""
    names: set[str] = set()
    with os.fdopen(int(sys.argv[1]), "r", encoding="ascii") as lines:
        for line in lines:
            (names.add if line.startswith("+") else names.discard)(line[1:].strip())
    for attempt in range(_ATTEMPTS):
        names = {name for name in names if not _is_removed(sys.argv[2], name, attempt)}
        if not names:
            return
        time.sleep(_ATTEMPT_INTERVAL_SECONDS)


def _is_removed(engine: str, name: str, attempt: int) -> bool:
    status = b""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(engine)
        request = f"DELETE /containers/{name}?force=1&v=1 HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        status = connection.recv(64).partition(b" ")[2][:3]
    return status == _DONE or (status == _NO_SUCH_CONTAINER and attempt >= _ATTEMPTS // 2)


if __name__ == "__main__":
    main()
