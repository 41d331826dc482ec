"""How the nodes of a reservation of several machines are called, and where they find one another.

All gangs have the same addresses, as each has a network of its own. They are from the network that RFC 2544 keeps for
measurements: the internet does not have it, and neither do the private networks of clouds and operators.
"""

from __future__ import annotations

from ipaddress import IPv4Network

NODES_NETWORK = IPv4Network("198.18.0.0/24")
FEWEST_NODES, MOST_NODES = 2, 64
SEED_BYTES = 32
"""Random bytes of a gang, from which its nodes make the key by which they let one another in by SSH."""


def node_name(rank: int) -> str:
    """The name of the node with this number, from 0."""
    return f"node-{rank}"


def node_address(rank: int) -> str:
    """Its IPv4 address among the nodes."""
    return str(NODES_NETWORK[rank + 1])
