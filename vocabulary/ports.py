"""Usual ports of the services, and free ports on the loopback."""

from __future__ import annotations

import random
import socket

LOOPBACK = "127.0.0.1"
METRICS_PORT_OFFSET = 1000
"""Difference between a service's port and the port of its metrics."""
USUAL_PORTS = {"gateway": 8080, "scheduler": 50061, "vmpool": 50062, "executor": 50063, "billing": 50064}
"""Port of each service, unless its settings say otherwise: HTTP for the gateway, gRPC for the others."""
MACHINE_HOST_PORT = 50065
"""Port of the process on a host of the provider `hosts`."""


def usual_target(service: str) -> str:
    """The gRPC target of a service on this host, on its usual port."""
    return f"{LOOPBACK}:{USUAL_PORTS[service]}"


RANGE = range(20_000, 32_000)
"""Below the ports that the kernel gives to outgoing connections (32768 to 60999 on Linux): any client could take such a
port after it is found free and before the server listens."""


def is_free(port: int) -> bool:
    """True if somebody could listen on the port now; a server of ours that has just ended does not count."""
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
