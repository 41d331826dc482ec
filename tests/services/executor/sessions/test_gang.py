"""What a node's session reads of its gang, and how wrong gangs are refused."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.sessions.gang.gang import Gang, Node, gang_faults
from services.executor.sessions.gang.ports import FREE_PORTS, PORTS, SSH_PORT
from vocabulary.gang_nodes import MOST_NODES, node_name

THREE = Gang("g1", 1, tuple(Node(f"node-{n}", IPv4Address(f"10.128.0.{n + 1}")) for n in range(3)), b"s" * 32)


def pairs(gang: Gang = THREE) -> list[tuple[str, str]]:
    return [(node.name, str(node.address)) for node in gang.nodes]


def test_launchers_find_the_nodes() -> None:
    assert THREE.hosts("wp-1") == "10.128.0.1 node-0\n10.128.0.2 node-1 wp-1\n10.128.0.3 node-2\n"
    assert THREE.hostfile(8) == "node-0 slots=8\nnode-1 slots=8\nnode-2 slots=8\n"
    expected = {"RANK": "1", "NODE_RANK": "1", "WORLD_SIZE": "3", "NNODES": "3", "MASTER_ADDR": "node-0"}
    expected |= {"MASTER_PORT": "29500"}
    assert expected.items() <= THREE.environment.items()
    assert int(THREE.environment["MASTER_PORT"]) in set(PORTS) - set(FREE_PORTS) - {SSH_PORT}


def test_the_seed_of_the_nodes_keys_is_not_shown() -> None:
    assert "ssss" not in repr(THREE)


def test_the_largest_gang_with_the_usual_names_has_no_faults() -> None:
    nodes = [(node_name(rank), f"10.128.{rank}.7") for rank in range(MOST_NODES)]
    assert gang_faults(MOST_NODES - 1, nodes, b"s" * 32) == []


def test_a_sound_gang_has_no_faults() -> None:
    assert gang_faults(1, pairs(), b"s" * 32) == []
    assert gang_faults(0, [(f"n{n}", f"10.7.8.{n + 1}") for n in range(MOST_NODES)], b"") == []


@pytest.mark.parametrize(
    ("rank", "nodes", "seed", "field", "words"),
    [
        (0, [], b"", "nodes", "has 0"),
        (0, pairs()[:1], b"", "nodes", "has 1; a gang has 2 to 64"),
        (0, [(f"n{n}", f"10.7.8.{n + 1}") for n in range(65)], b"", "nodes", "has 65"),
        (3, pairs(), b"", "rank", "is 3"),
        (-1, pairs(), b"", "rank", "is -1"),
        (0, [("Node", "10.1.1.1"), ("b", "10.1.1.2")], b"", "nodes[0].name", "a DNS label"),
        (0, [("a\n", "10.1.1.1"), ("b", "10.1.1.2")], b"", "nodes[0].name", "a DNS label"),
        (0, [("a", "10.1.1.1"), ("localhost", "10.1.1.2")], b"", "nodes[1].name", "a DNS label"),
        (0, [("a", "10.1.1.1"), ("a", "10.1.1.2")], b"", "nodes[1].name", "give each its own"),
        (0, [("a", "10.1.1.1"), ("b", "10.1.1.1")], b"", "nodes[1].address", "give each its own"),
        (
            0,
            [("a", "10.1.1.1"), ("b", "fd00::1")],
            b"",
            "nodes[1].address",
            "must be the IPv4 address that the machine has in VMPOOL_MACHINE_NETWORK",
        ),
        (
            0,
            [("a", "10.1.1.1"), ("b", "")],
            b"",
            "nodes[1].address",
            "must be the IPv4 address that the machine has in VMPOOL_MACHINE_NETWORK",
        ),
        (0, pairs(), b"short", "ssh_seed", "has 5 bytes; it must have 32"),
    ],
)
def test_a_wrong_gang_is_refused_with_its_field_and_the_fix(
    rank: int, nodes: Sequence[tuple[str, str]], seed: bytes, field: str, words: str
) -> None:
    found = [fault for where, fault in gang_faults(rank, nodes, seed) if where == field]
    assert any(words in fault for fault in found), gang_faults(rank, nodes, seed)


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=16) | st.ip_addresses(v=4).map(str)), max_size=4))
def test_no_gang_makes_the_check_fail(nodes: list[tuple[str, str]]) -> None:
    if not gang_faults(0, nodes, b""):
        gang = Gang("g", 0, tuple(Node(name, IPv4Address(address)) for name, address in nodes))
        assert [node.address for node in gang.others] == [IPv4Address(address) for _, address in nodes[1:]]
