"""A fork server whose judges follow a script; it starts faster than the real one."""

from __future__ import annotations

import socket
import sys

from services.executor.core.process.fork_server import ForkServer
from tests.services.executor import scripted_judge


def judge() -> int:
    scripted_judge.main()
    return 0


if __name__ == "__main__":
    ForkServer(socket.socket(fileno=sys.stdin.fileno()), judge).serve()
