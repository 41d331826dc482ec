"""Shortest paths from one node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.graphs import HEAVY, LIGHT, Shape, any_shape, directed_graph, graph_case, hidden_nodes
from problems.kit.chaining import ChainRule, weights
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.distributions import TILE_ELEMENTS
from problems.kit.rounding import EXACT


class ShortestPath(Problem):
    """The least weight of a path from one node of a directed graph to each."""

    slug = "shortest-path"
    title = "Single-Source Shortest Path"
    difficulty = Difficulty.MEDIUM
    tags = ("graph",)
    signature = "const float* d_adj_matrix, int source, float* d_distances, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"d_distances": Initial.POISON}
    arrays: ClassVar[Mapping[str, str]] = {"d_adj_matrix": "n, n", "d_distances": "n"}
    tolerance = EXACT
    chain: ClassVar[Mapping[str, ChainRule]] = {"d_adj_matrix": weights(1, LIGHT)}
    sizes = Sizes(
        cpu=(
            graph_case(160, Shape.HEAVY),
            graph_case(129, Shape.SPLIT),
            graph_case(101, Shape.CHAIN),
            graph_case(256, Shape.DENSE),
        ),
        gpu=(
            graph_case(512, Shape.SPLIT),
            graph_case(2048, Shape.DENSE),
            graph_case(4096, Shape.HEAVY),
            graph_case(6144, Shape.DENSE),
            graph_case(8192, Shape.DENSE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return graph_case(hidden_nodes(size_set, rng), any_shape(rng))

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        n: int = case["n"]
        shape = case["shape"]
        heaviest = HEAVY if shape is Shape.HEAVY else LIGHT
        edges = directed_graph(n, shape, rng)
        # A chain is long from its first nodes.
        source = int(rng.integers(n // 8 if shape is Shape.CHAIN else n))
        # The source leads to the last node, and only that to another: the end of the matrix has to be read.
        beyond = int(rng.integers(n - TILE_ELEMENTS // 2, n - 1))
        edges[:, beyond] = 0
        edges[source, n - 1] = 1
        edges[n - 1, beyond] = rng.integers(heaviest // 2, heaviest)
        edges[source, source] = 0
        return {"d_adj_matrix": edges, "source": source, "n": n}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        edges = inputs["d_adj_matrix"].astype(np.float64)
        lengths = np.where(edges == 0, np.inf, edges)
        distances = np.full(len(edges), np.inf)
        distances[inputs["source"]] = 0.0
        # Dijkstra's algorithm: the nearest of the open nodes is done.
        pending = distances.copy()
        while (nearest := float(pending.min())) < np.inf:
            node = int(pending.argmin())
            ways = nearest + lengths[node]
            shorter = ways < distances
            distances[shorter] = pending[shorter] = ways[shorter]
            pending[node] = np.inf
        return {"d_distances": np.where(np.isinf(distances), -1.0, distances)}

    def flops(self, case: Case) -> float:
        return 2.0 * case["n"] ** 2


PROBLEM = ShortestPath()
