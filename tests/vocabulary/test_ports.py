from __future__ import annotations

import socket
from pathlib import Path

from vocabulary.ports import RANGE, free_port, free_ports, is_free


def test_a_port_whose_server_has_just_ended_is_free() -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(server.getsockname()):
        accepted, _ = server.accept()
        accepted.close()
    assert is_free(port)


def test_no_client_on_this_machine_is_given_a_port_that_a_server_is_to_have() -> None:
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(free_ports(len(RANGE) // 10)) < lowest
    assert free_port() in RANGE
