"""Loopback ports: which are free, and who holds the others."""

from __future__ import annotations

import random
import socket

import psutil

LOOPBACK = "127.0.0.1"
RANGE = range(20_000, 32_000)
"""Below the range from which the kernel takes ports for outgoing connections (32768 and up)."""


def is_free(port: int) -> bool:
    """Whether nothing listens on the port; a server of ours that has just ended does not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def free_ports(count: int) -> list[int]:
    """Different ports that are free now."""
    candidates = random.sample(RANGE, len(RANGE))
    free = (port for port in candidates if is_free(port))
    return [next(free) for _ in range(count)]


def holder(port: int) -> str:
    """The process that listens on a port, in words, as far as we may know."""
    for connection in psutil.net_connections(kind="tcp"):
        address = connection.laddr
        if address and address.port == port and connection.status == psutil.CONN_LISTEN and connection.pid:
            return f"process {connection.pid} ({psutil.Process(connection.pid).name()})"
    return "another process"
