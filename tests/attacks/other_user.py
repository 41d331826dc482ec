"""Another user of the machine: lists, reads and connects to everything below the given folders.

    python3 other_user.py FOLDER... <stdin

Runs until stdin ends, then prints everything that it reached as JSON. To each socket it sends a runner's replies: that
it is up, and that a launch was refused. Needs only Python, none of our packages.
"""

# The system's Python may be older than ours.
from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import struct
import sys
from pathlib import Path

MARK, READY, FAILED, LAUNCH = 0x31525057, 1, 6, 4


def reply(kind: int, sequence: int) -> bytes:
    return struct.pack("<IIQIiQQQQ72s", MARK, kind, sequence, LAUNCH, 9, 0, 0, 0, 0, b"hipErrorInvalidConfiguration")


class OtherUser:
    def __init__(self, folders: list[str]) -> None:
        self.folders = folders
        self.connections: list[socket.socket] = []
        self.found: dict[str, set[str]] = {"seen": set(), "listed": set(), "read": set(), "connected": set()}

    def look(self) -> None:
        for folder in self.folders:
            for path, inner, files in os.walk(folder):
                self.found["seen"].update(f"{path}/{name}" for name in inner)
                if path != folder:
                    self.found["listed"].add(path)
                for name in files:
                    self.read(f"{path}/{name}")
        for line in Path("/proc/net/unix").read_text().splitlines():
            path = line.split()[-1]
            if any(path.startswith(folder) for folder in self.folders):
                self.connect(path)

    def read(self, path: str) -> None:
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            self.found["read"].add(path)

    def connect(self, path: str) -> None:
        self.found["seen"].add(path)
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        with contextlib.suppress(OSError):
            connection.connect(path)
            self.connections.append(connection)
            self.found["connected"].add(path)
            connection.send(reply(READY, 0) + b"".join(reply(FAILED, sequence) for sequence in range(1, 4)))


if __name__ == "__main__":
    other_user = OtherUser(sys.argv[1:])
    sys.stdout.write("looking\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], 0)[0]:
        other_user.look()
    sys.stdout.write(json.dumps({what: sorted(paths) for what, paths in other_user.found.items()}))
