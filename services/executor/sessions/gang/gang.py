"""A session that is a node of several: its place among them, and what its programs read of that; pure.

Nodes use the network that their machines have among them (docs/decisions/0038-nodes-use-their-clouds-network.md): a
node has its machine's address there, at which some ports are passed on to its session.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address

from vocabulary.gang_nodes import FEWEST_NODES, MOST_NODES, SEED_BYTES

HOSTFILE = "/session/hostfile"
MASTER_PORT = 29500
"""torchrun's own default."""
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Node:
    """A node: its name for programs, and its machine's address."""

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

    def hosts(self, alias: str) -> str:
        """The lines of /etc/hosts; `alias` is another name of the own node."""
        lines = (f"{node.address} {node.name}{f' {alias}' if node is self.own else ''}\n" for node in self.nodes)
        return "".join(lines)

    def hostfile(self, gpus: int) -> str:
        """The nodes in the form of Open MPI and DeepSpeed, with `gpus` slots on each."""
        return "".join(f"{node.name} slots={gpus}\n" for node in self.nodes)

    @property
    def environment(self) -> Mapping[str, str]:
        """What launchers look for.

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
        }


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
    fault = "it must be the IPv4 address that the machine has in VMPOOL_MACHINE_NETWORK, such as 10.128.0.7"
    return [
        (f"nodes[{number}].address", f"is {text[:80]!r}; {fault}")
        for number, text in enumerate(addresses)
        if not _is_address(text)
    ]


def _is_address(text: str) -> bool:
    try:
        return bool(IPv4Address(text))
    except ValueError:
        return False
