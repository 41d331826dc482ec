"""Shortest paths between all pairs of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.graphs import LIGHT, Shape, any_shape, directed_graph, graph_case, hidden_nodes
from problems.kit.chaining import ChainRule, weights
from problems.kit.definition import Case, Difficulty, Initial, Part, Problem, Sizes, SizeSet
from problems.kit.parts import ELEMENTS, Stretch, some_pieces, within
from problems.kit.rounding import EXACT

_SOURCES = "sources"
"""Of a part: the nodes that its rows are for."""
_TILE = 64
"""Nodes on the way that are tried at a time, and rows: so that what is worked on stays in the processor's cache."""


class AllPairsShortestPath(Problem):
    """The least weight of a path between any two nodes of a directed graph."""

    slug = "all-pairs-shortest-path"
    title = "All-Pairs Shortest Path"
    difficulty = Difficulty.MEDIUM
    tags = ("graph", "dynamic-programming")
    signature = "const float* adj_matrix, float* output, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"output": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"adj_matrix": "n, n", "output": "n, n"}
    tolerance = EXACT
    chain: ClassVar[Mapping[str, ChainRule]] = {"adj_matrix": weights(1, LIGHT)}
    sizes = Sizes(
        cpu=(
            graph_case(160, Shape.HEAVY),
            graph_case(129, Shape.SPLIT),
            graph_case(101, Shape.CHAIN),
            graph_case(128, Shape.DENSE),
        ),
        gpu=(
            graph_case(512, Shape.SPLIT),
            graph_case(1024, Shape.HEAVY),
            graph_case(2048, Shape.DENSE),
            graph_case(4096, Shape.DENSE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return graph_case(hidden_nodes(size_set, rng), any_shape(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        n = case["n"]
        return {"adj_matrix": directed_graph(n, case["shape"], rng), "n": n}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        edges = inputs["adj_matrix"]
        distances = np.where(edges == 0, np.float32(np.inf), edges)
        np.fill_diagonal(distances, 0)
        if _SOURCES in case.values:
            distances = _from(case[_SOURCES], distances)
        else:
            _shorten(distances)
        return {"output": np.where(np.isinf(distances), -1.0, distances).astype(np.float64)}

    def part(self, case: Case, rng: np.random.Generator) -> Part | None:
        n = case["n"]
        # As few as may be: each takes all edges.
        sources = None if isinstance(rng, Stretch) else some_pieces(n, ELEMENTS, rng)
        if sources is None:
            return None
        return Part(replace(case, values={**case.values, _SOURCES: sources}), {"output": within(sources, n)})

    def flops(self, case: Case) -> float:
        return 2.0 * case["n"] ** 3


def _shorten(distances: NDArray[np.float32]) -> None:
    """Floyd and Warshall's algorithm, for a tile of nodes on the way at a time."""
    n = len(distances)
    for start in range(0, n, _TILE):
        tile = slice(start, min(start + _TILE, n))
        # The tile's own rows first, and its columns: no path leaves the tile and comes back to it but through others.
        for k in range(tile.start, tile.stop):
            through = distances[tile, k, None] + distances[k]
            np.minimum(distances[tile], through, out=distances[tile])
        for first in range(0, n, _TILE):
            rows = distances[first : first + _TILE]
            for k in range(tile.start, tile.stop):
                np.minimum(rows, rows[:, k, None] + distances[k], out=rows)


def _from(sources: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Dijkstra's algorithm from each of some nodes, a step of all at a time: a row of distances for each."""
    all_rows = np.arange(len(sources))
    distances = np.full((len(sources), len(weights)), np.inf, np.float32)
    distances[all_rows, sources] = 0
    ahead = distances.copy()
    for _ in range(len(weights)):
        nearest = ahead.argmin(axis=1)
        reached = ahead[all_rows, nearest]
        if np.isinf(reached).all():
            break
        through = weights[nearest] + reached[:, None]
        ahead[all_rows, nearest] = np.inf
        closer = through < distances
        np.copyto(distances, through, where=closer)
        np.copyto(ahead, through, where=closer)
    return distances


PROBLEM = AllPairsShortestPath()
