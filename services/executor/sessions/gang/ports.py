"""The ports of a node: which they are, and how slirp4netns passes them on from its machine's address to the session."""

from __future__ import annotations

import json
import socket
from ipaddress import IPv4Address
from pathlib import Path

from services.executor.sandboxes.sandbox import SandboxError

PORTS = range(29300, 29812)
"""TCP ports at which programs of a node are reached: enough for launchers and libraries, below those that machines use
for their own connections. 29400 and 29500 are launchers' defaults."""
SSH_PORT = PORTS[0]
FREE_PORTS = PORTS[256:]
"""Those that programs get which ask for any port."""
_ANSWER_SECONDS = 20.0
_ANSWER_BYTES = 4096


def pass_ports_on(orders: Path, address: IPv4Address) -> None:
    """Let slirp4netns listen at the ports of a node; raises SandboxError, OSError."""
    for port in PORTS:
        ends = {"host_addr": str(address), "host_port": port, "guest_addr": str(address), "guest_port": port}
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_ANSWER_SECONDS)
            connection.connect(str(orders))
            connection.sendall(json.dumps({"execute": "add_hostfwd", "arguments": {"proto": "tcp", **ends}}).encode())
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(_ANSWER_BYTES)
        if b"error" in answer or not answer:
            raise SandboxError(f"slirp4netns cannot listen at port {port} of {address}, which a node needs")
