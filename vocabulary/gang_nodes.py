"""How the nodes of a reservation of several machines are called."""

FEWEST_NODES, MOST_NODES = 2, 64
SEED_BYTES = 32
"""Random bytes of a gang, from which its nodes make the key by which they let one another in by SSH."""


def node_name(rank: int) -> str:
    """The name of the node with this number, from 0."""
    return f"node-{rank}"
