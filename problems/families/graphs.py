"""What the graph problems share: adjacency matrices whose entries are whole weights, and 0 where there is no edge.

Weights are so small that every path and every tree weighs less than 2^24: floats hold all sums exactly, in any order.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from problems.kit.cases import CaseTemplate
from problems.kit.definition import SizeSet

LIGHT = 20
HEAVY = 10_000
"""Weights are below: bfloat16 holds no whole numbers above 256 exactly, half none above 2,048."""

_HIDDEN_NODES = {SizeSet.CPU: (61, 97, 127, 151), SizeSet.GPU: (509, 769, 1021, 1031)}


class Shape(StrEnum):
    """What a graph looks like."""

    DENSE = "dense"
    """A third of all edges, of light weights: paths are short, and many weigh the same."""
    HEAVY = "heavy"
    """A third of all edges, of all weights."""
    CHAIN = "chain"
    """Each node leads to the next, and a few to others: paths are long."""
    SPLIT = "split"
    """As dense, but some nodes lead nowhere, and to some nothing leads."""


graph_case = CaseTemplate("n = {n}, {shape}")


def hidden_nodes(size_set: SizeSet, rng: np.random.Generator) -> int:
    """A number of nodes near the public ones: most are prime."""
    return int(rng.choice(_HIDDEN_NODES[size_set]))


def any_shape(rng: np.random.Generator) -> Shape:
    """Any of the shapes, all alike likely."""
    return tuple(Shape)[rng.integers(len(Shape))]


def directed_graph(n: int, shape: Shape, rng: np.random.Generator) -> NDArray[np.float32]:
    """Entry (u, v) is the weight of the edge from u to v; the diagonal is 0."""
    weights = rng.integers(1, HEAVY if shape is Shape.HEAVY else LIGHT, (n, n)).astype(np.float32)
    share = 1 / n if shape is Shape.CHAIN else 0.3
    weights[rng.random((n, n), np.float32) >= share] = 0
    if shape is Shape.CHAIN:
        steps = np.arange(n - 1)
        weights[steps, steps + 1] = rng.integers(1, LIGHT, n - 1)
    if shape is Shape.SPLIT:
        weights[rng.random(n) < 1 / 8] = 0
        weights[:, rng.random(n) < 1 / 8] = 0
    np.fill_diagonal(weights, 0)
    return weights


def connected_graph(n: int, shape: Shape, rng: np.random.Generator) -> NDArray[np.float32]:
    """A symmetric matrix of a graph in one piece, in which many light edges hang on the last node."""
    weights = np.zeros((n, n), np.float32)
    heaviest = HEAVY if shape is Shape.HEAVY else LIGHT
    nodes = np.arange(1, n)
    earlier = nodes - 1 if shape is Shape.CHAIN else (rng.random(n - 1) * nodes).astype(np.int64)
    ends = rng.integers(0, n, (2, 2 * n))
    hub = np.flatnonzero(rng.random(n) < 1 / 3)
    pairs = np.concatenate([ends.T, np.stack([np.full(hub.size, n - 1), hub], 1), np.stack([nodes, earlier], 1)])
    drawn = rng.integers(1, heaviest, len(pairs))
    drawn[2 * n : 2 * n + hub.size] = rng.integers(1, heaviest // 5, hub.size)
    for one, other in (pairs.T, pairs.T[::-1]):
        weights[one, other] = drawn
    # Of two weights for one edge, either may have been the last.
    weights = np.maximum(weights, weights.T)
    np.fill_diagonal(weights, 0)
    return weights
