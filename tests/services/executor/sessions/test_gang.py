"""What a node's session reads of its gang, which packets it may send and get, and how wrong gangs are refused."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.sessions.gang import NETWORKS, Gang, Node, PacketFilter, gang_faults
from vocabulary.gang_nodes import MOST_NODES, node_address, node_name

if TYPE_CHECKING:
    from collections.abc import Sequence

THREE = Gang("g1", 1, tuple(Node(f"node-{n}", IPv4Address(f"198.18.0.{n + 1}")) for n in range(3)), b"s" * 32)
ADDRESSES = st.binary(min_size=4, max_size=4)
FEW = st.sampled_from([bytes([198, 18, 0, n]) for n in range(6)])


def packet(source: bytes, destination: bytes, content: bytes = b"", options: bytes = b"") -> bytes:
    header = bytes([0x40 | (5 + len(options) // 4), 0]) + (20 + len(options) + len(content)).to_bytes(2)
    return header + bytes(8) + source + destination + options + content


def pairs(gang: Gang = THREE) -> list[tuple[str, str]]:
    return [(node.name, str(node.address)) for node in gang.nodes]


@given(FEW | ADDRESSES, FEW | ADDRESSES, st.binary(max_size=40), st.integers(0, 10).map(lambda n: bytes(4 * n)))
def test_only_packets_from_the_node_to_another_leave_and_only_those_from_another_to_it_enter(
    source: bytes, destination: bytes, content: bytes, options: bytes
) -> None:
    own, others = THREE.own.address.packed, {node.address.packed for node in THREE.others}
    sent = packet(source, destination, content, options)
    assert THREE.packets.may_leave(sent) == (source == own and destination in others)
    assert THREE.packets.may_enter(sent) == (destination == own and source in others)


@given(st.binary(max_size=80))
def test_garbage_neither_leaves_nor_enters_nor_does_harm(garbage: bytes) -> None:
    everybody = PacketFilter(garbage[12:16], frozenset([garbage[16:20]]))
    is_whole = len(garbage) >= 20 and garbage[0] >> 4 == 4 and int.from_bytes(garbage[2:4]) == len(garbage)
    assert everybody.may_leave(garbage) <= is_whole
    assert PacketFilter(garbage[16:20], frozenset([garbage[12:16]])).may_enter(garbage) <= is_whole


@given(st.integers(0, 4), st.binary(max_size=30), st.integers(-20, 20).filter(bool))
def test_a_packet_whose_header_does_not_tell_its_length_is_dropped(words: int, content: bytes, more: int) -> None:
    own, other = THREE.own.address.packed, THREE.others[0].address.packed
    sound = packet(own, other, content)
    assert THREE.packets.may_leave(sound)
    wrong_length = sound[:2] + ((len(sound) + more) % 65536).to_bytes(2) + sound[4:]
    for wrong in (bytes([0x40 | words]) + sound[1:], wrong_length, bytes([0x65]) + sound[1:], sound + b"x", sound[:-1]):
        assert not THREE.packets.may_leave(wrong)


def test_launchers_find_the_nodes() -> None:
    assert THREE.hosts("wp-1") == "198.18.0.1 node-0\n198.18.0.2 node-1 wp-1\n198.18.0.3 node-2\n"
    assert THREE.hostfile(8) == "node-0 slots=8\nnode-1 slots=8\nnode-2 slots=8\n"
    expected = {"RANK": "1", "NODE_RANK": "1", "WORLD_SIZE": "3", "NNODES": "3", "MASTER_ADDR": "node-0"}
    expected |= {"MASTER_PORT": "29500", "NCCL_SOCKET_IFNAME": "gang0", "GLOO_SOCKET_IFNAME": "gang0"}
    assert expected.items() <= THREE.environment.items()


def test_the_seed_of_the_nodes_keys_is_not_shown() -> None:
    assert "ssss" not in repr(THREE)


def test_the_largest_gang_with_the_usual_names_and_addresses_has_no_faults() -> None:
    nodes = [(node_name(rank), node_address(rank)) for rank in range(MOST_NODES)]
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
        (0, [("a", "10.1.1.1"), ("b", "10.1.2.1")], b"", "nodes[1].address", "in one /24"),
        (0, [("a", "10.1.1.1"), ("b", "10.1.1.255")], b"", "nodes[1].address", "stands for the whole"),
        (0, [("a", "10.1.1.1"), ("b", "fd00::1")], b"", "nodes[1].address", "must be an IPv4 address"),
        (0, [("a", "10.1.1.1"), ("b", "")], b"", "nodes[1].address", "must be an IPv4 address"),
        (0, [("a", "169.254.169.1"), ("b", "169.254.169.254")], b"", "nodes[0].address", "must be in one of"),
        (0, [("a", "1.1.1.1"), ("b", "1.1.1.2")], b"", "nodes[1].address", "must be in one of 198.18.0.0/15"),
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
        assert any(gang.network.subnet_of(network) for network in NETWORKS)
        assert all(node.address in gang.network for node in gang.nodes)
