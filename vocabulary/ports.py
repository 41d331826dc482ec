"""Loopback ports that a process of ours can be given before it listens."""

from __future__ import annotations

import random
import socket

LOOPBACK = "127.0.0.1"
RANGE = range(20_000, 32_000)
"""Below those that the kernel gives to outgoing connections (32768 to 60999 on Linux): such a port may be taken by any
client between the moment it is found free and the moment the server listens."""


def is_free(port: int) -> bool:
    """Whether somebody could listen on the port now; a server of ours that has just ended does not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Different ports that are free now."""
    free = (port for port in random.sample(RANGE, len(RANGE)) if is_free(port))
    return [next(free) for _ in range(count)]


def free_port() -> int:
    """A port that is free now."""
    return free_ports(1)[0]
