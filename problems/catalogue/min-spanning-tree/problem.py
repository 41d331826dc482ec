"""The weight of a minimum spanning tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from problems.families.graphs import LIGHT, Shape, connected_graph, graph_case, hidden_nodes
from problems.kit.chaining import ChainRule, weights
from problems.kit.definition import Case, Difficulty, Initial, Problem, Sizes, SizeSet
from problems.kit.rounding import EXACT

_SHAPES = (Shape.HEAVY, Shape.DENSE, Shape.CHAIN)


class MinSpanningTree(Problem):
    """The least weight of edges that hold a connected graph together."""

    slug = "min-spanning-tree"
    title = "Minimum Spanning Tree"
    difficulty = Difficulty.MEDIUM
    tags = ("graph", "reduction")
    signature = "const float* A, float* min_weight, size_t n"
    outputs: ClassVar[Mapping[str, Initial]] = {"min_weight": Initial.ZERO}
    arrays: ClassVar[Mapping[str, str]] = {"A": "n, n", "min_weight": "1"}
    tolerance = EXACT
    chain: ClassVar[Mapping[str, ChainRule]] = {"A": weights(1, LIGHT)}
    sizes = Sizes(
        cpu=(
            graph_case(160, Shape.HEAVY),
            graph_case(129, Shape.DENSE),
            graph_case(257, Shape.CHAIN),
            graph_case(101, Shape.HEAVY),
        ),
        gpu=(
            graph_case(1024, Shape.HEAVY),
            graph_case(2048, Shape.DENSE),
            graph_case(4096, Shape.CHAIN),
            graph_case(6144, Shape.DENSE),
        ),
    )

    def hidden_case(self, size_set: SizeSet, rng: np.random.Generator) -> Case:
        return graph_case(hidden_nodes(size_set, rng), _SHAPES[rng.integers(len(_SHAPES))])

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        n = case["n"]
        return {"A": connected_graph(n, case["shape"], rng), "n": n}

    def reference(self, case: Case, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Prim's algorithm, from node 0: the nearest of the nodes outside the tree joins it."""
        edges = inputs["A"].astype(np.float64)
        lengths = np.where(edges == 0, np.inf, edges)
        nearest, total = lengths[0].copy(), 0.0
        outside = np.ones(case["n"], np.bool_)
        outside[0] = False
        for _ in range(case["n"] - 1):
            node = int(np.where(outside, nearest, np.inf).argmin())
            total += nearest[node]
            outside[node] = False
            np.minimum(nearest, lengths[node], out=nearest)
        return {"min_weight": np.array([total])}

    def flops(self, case: Case) -> float:
        return 1.0 * case["n"] ** 2


PROBLEM = MinSpanningTree()
