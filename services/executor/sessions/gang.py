"""A session that is a node of several: its place among them, and what its programs read of that; pure.

The nodes' packets travel through the pool (docs/decisions/0032-a-gangs-network.md). A machine believes neither its
session nor the pool: only packets from the node's own address leave it, and only packets for that address come in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from vocabulary.gang_nodes import FEWEST_NODES, MOST_NODES, SEED_BYTES, node_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DEVICE = "gang0"
"""The network device among the nodes."""
MTU = 65520
"""Large, because each packet costs the pool's processes the same time, whatever its size."""
HOSTFILE = "/session/hostfile"
MASTER_PORT = 29500
"""torchrun's own default."""
NETWORKS = tuple(
    IPv4Network(text) for text in ("198.18.0.0/15", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
"""Networks of which a gang may have a part: that of RFC 2544, which nobody routes, and the private ones."""
_PREFIX = 24
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_HEADER_BYTES = 20
_VERSION_4 = 4


@dataclass(frozen=True)
class Node:
    """A node: its name for programs, and its address among the nodes."""

    name: str
    address: IPv4Address


@dataclass(frozen=True)
class Gang:
    """The nodes of a gang, by rank, and which of them a session is.

    With `ssh_seed`, 32 random bytes that all nodes share, they let one another in by SSH; empty: they do not.
    """

    gang_id: str
    rank: int
    nodes: tuple[Node, ...]
    ssh_seed: bytes = field(default=b"", repr=False, compare=False)

    @property
    def own(self) -> Node:
        """The session's own node."""
        return self.nodes[self.rank]

    @property
    def others(self) -> Sequence[Node]:
        """The other nodes, by rank."""
        return [*self.nodes[: self.rank], *self.nodes[self.rank + 1 :]]

    @property
    def network(self) -> IPv4Network:
        """The /24 that has all addresses."""
        return _network_of(self.own.address)

    def hosts(self, alias: str) -> str:
        """The lines of /etc/hosts; `alias` is another name of the own node."""
        lines = (f"{node.address} {node.name}{f' {alias}' if node is self.own else ''}\n" for node in self.nodes)
        return "".join(lines)

    def hostfile(self, gpus: int) -> str:
        """The nodes in the form of Open MPI and DeepSpeed, with `gpus` slots on each."""
        return "".join(f"{node.name} slots={gpus}\n" for node in self.nodes)

    @property
    def environment(self) -> Mapping[str, str]:
        """What launchers and libraries look for.

        RANK and WORLD_SIZE count nodes, for one process on each; torchrun and its like replace them in their workers.
        """
        rank, count = str(self.rank), str(len(self.nodes))
        return {
            "NODE_RANK": rank,
            "NNODES": count,
            "RANK": rank,
            "WORLD_SIZE": count,
            "MASTER_ADDR": self.nodes[0].name,
            "MASTER_PORT": str(MASTER_PORT),
            "WAVEPOOL_HOSTFILE": HOSTFILE,
            # All nodes have the same address on the device that leads to the internet.
            "NCCL_SOCKET_IFNAME": DEVICE,
            "GLOO_SOCKET_IFNAME": DEVICE,
            "TP_SOCKET_IFNAME": DEVICE,
            "UCX_NET_DEVICES": DEVICE,
            "OMPI_MCA_btl_tcp_if_include": DEVICE,
            "OMPI_MCA_oob_tcp_if_include": DEVICE,
            "HYDRA_IFACE": DEVICE,
        }

    @cached_property
    def packets(self) -> PacketFilter:
        """Which packets leave and enter the session."""
        return PacketFilter(self.own.address.packed, frozenset(node.address.packed for node in self.others))


@dataclass(frozen=True)
class PacketFilter:
    """Decides on whole packets; addresses are four bytes each."""

    own: bytes
    others: frozenset[bytes]

    def may_leave(self, packet: bytes) -> bool:
        """True if it is one of IPv4 from the own address to another node."""
        return _is_whole(packet) and packet[12:16] == self.own and packet[16:20] in self.others

    def may_enter(self, packet: bytes) -> bool:
        """True if it is one of IPv4 from another node to the own address."""
        return _is_whole(packet) and packet[16:20] == self.own and packet[12:16] in self.others


def gang_faults(rank: int, nodes: Iterable[tuple[str, str]], seed: bytes) -> list[tuple[str, str]]:
    """What is wrong with a gang, as fields and sentences; nodes are pairs of name and address."""
    names, addresses = [list(values) for values in zip(*nodes, strict=True)] or ([], [])
    count = len(names)
    if not FEWEST_NODES <= count <= MOST_NODES:
        return [("nodes", f"has {count}; a gang has {FEWEST_NODES} to {MOST_NODES}, and another session none at all")]
    faults = [
        (f"nodes[{number}].name", f"is {name[:80]!r}; it must be a DNS label: 1 to 63 lower case letters, digits or -")
        for number, name in enumerate(names)
        if not _LABEL.fullmatch(name) or name == "localhost"
    ]
    faults += [
        (f"nodes[{number}].{field}", f"is {value[:80]!r}, as that of an earlier node is; give each its own")
        for field, values in (("name", names), ("address", addresses))
        for number, value in enumerate(values)
        if value in values[:number]
    ]
    faults += _address_faults(addresses)
    if not 0 <= rank < count:
        faults.append(("rank", f"is {rank}; it must be the number of one of the {count} nodes, from 0"))
    if len(seed) not in {0, SEED_BYTES}:
        faults.append(("ssh_seed", f"has {len(seed)} bytes; it must have {SEED_BYTES}, or be empty for no SSH"))
    return faults


def _address_faults(addresses: Sequence[str]) -> list[tuple[str, str]]:
    faults: list[tuple[str, str]] = []
    first: IPv4Network | None = None
    for number, text in enumerate(addresses):
        where = f"nodes[{number}].address"
        try:
            address = IPv4Address(text)
        except ValueError:
            faults.append((where, f"is {text[:80]!r}; it must be an IPv4 address such as {node_address(number)}"))
            continue
        network = _network_of(address)
        first = first or network
        if not any(network.subnet_of(allowed) for allowed in NETWORKS):
            faults.append((where, f"is {address}; it must be in one of {', '.join(map(str, NETWORKS))}"))
        elif network != first:
            faults.append((where, f"is {address}; all nodes must be in one /24, and an earlier one is in {first}"))
        elif address in {network[0], network[-1]}:
            faults.append((where, f"is {address}, which stands for the whole {network}; give another"))
    return faults


def _network_of(address: IPv4Address) -> IPv4Network:
    return IPv4Network((address, _PREFIX), strict=False)


def _is_whole(packet: bytes) -> bool:
    """True if it begins with a header of IPv4, and has the length that this says."""
    if len(packet) < _HEADER_BYTES or packet[0] >> 4 != _VERSION_4:
        return False
    header = 4 * (packet[0] & 0xF)
    return _HEADER_BYTES <= header <= len(packet) == int.from_bytes(packet[2:4])
