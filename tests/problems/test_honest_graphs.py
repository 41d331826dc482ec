"""Graph answers by scipy, and by algorithms other than the references'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra, johnson, minimum_spanning_tree

from problems.library.catalogue import Catalogue
from tests.problems.honest import Inputs, wrong_cases

F = np.float32


def unreachable_as_minus_one(distances: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.isinf(distances), -1, distances).astype(F)


def bellman_ford(v: Inputs) -> NDArray[Any]:
    edges = v["d_adj_matrix"]
    lengths = np.where(edges == 0, F(np.inf), edges)
    distances = np.full(v["n"], np.inf, F)
    distances[v["source"]] = 0
    for _ in range(v["n"]):
        distances = np.minimum(distances, (distances[:, None] + lengths).min(axis=0))
    return unreachable_as_minus_one(distances)


def kruskal(v: Inputs) -> NDArray[Any]:
    parents, total = list(range(v["n"])), F(0)

    def root(node: int) -> int:
        while parents[node] != node:
            node = parents[node]
        return node

    one, other = np.nonzero(np.triu(v["A"]))
    for at in np.argsort(v["A"][one, other], kind="stable"):
        roots = root(int(one[at])), root(int(other[at]))
        if roots[0] != roots[1]:
            parents[roots[0]] = roots[1]
            total += v["A"][one[at], other[at]]
    return np.array([total], F)


def nearest_neighbours(v: Inputs) -> NDArray[Any]:
    """Each node's lightest edge: some edges appear twice, and the result is not a tree."""
    return np.array([np.where(v["A"] == 0, F(np.inf), v["A"]).min(axis=1)[1:].sum()], F)


def test_johnsons_paths_between_all_pairs_are_right(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        return unreachable_as_minus_one(johnson(v["adj_matrix"]))

    assert wrong_cases(catalogue, "all-pairs-shortest-path", answer) == []


def test_paths_of_two_edges_are_not_enough(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        lengths = np.where(v["adj_matrix"] == 0, F(np.inf), v["adj_matrix"])
        np.fill_diagonal(lengths, 0)
        return unreachable_as_minus_one(np.stack([(row[:, None] + lengths).min(axis=0) for row in lengths]))

    assert len(wrong_cases(catalogue, "all-pairs-shortest-path", answer)) > 5


def test_dijkstras_paths_from_one_node_are_right(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        return unreachable_as_minus_one(dijkstra(v["d_adj_matrix"], indices=v["source"]))

    assert wrong_cases(catalogue, "shortest-path", answer) == []


def test_bellman_and_fords_paths_are_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "shortest-path", bellman_ford) == []


def test_paths_against_the_edges_are_wrong(catalogue: Catalogue) -> None:
    def answer(v: Inputs) -> NDArray[Any]:
        return unreachable_as_minus_one(dijkstra(v["d_adj_matrix"].T, indices=v["source"]))

    assert len(wrong_cases(catalogue, "shortest-path", answer)) == 10


def test_scipys_tree_is_right(catalogue: Catalogue) -> None:
    assert (
        wrong_cases(catalogue, "min-spanning-tree", lambda v: np.array([minimum_spanning_tree(v["A"]).sum()], F)) == []
    )


def test_kruskals_tree_is_right(catalogue: Catalogue) -> None:
    assert wrong_cases(catalogue, "min-spanning-tree", kruskal) == []


def test_lightest_edges_are_no_tree(catalogue: Catalogue) -> None:
    assert len(wrong_cases(catalogue, "min-spanning-tree", nearest_neighbours)) == 10
