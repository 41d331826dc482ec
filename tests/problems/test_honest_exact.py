"""Exact answers: by Python's own integers, by scipy's graphs, and by algorithms other than the references'."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra, johnson, minimum_spanning_tree

from tests.problems.honest import F, Inputs, are_right, fail

P = 2**31 - 1


def products(v: Inputs) -> NDArray[Any]:
    pairs = zip(v["d_input1"].tolist(), v["d_input2"].tolist(), strict=True)
    return np.array([a * b % P for a, b in pairs], np.uint32)


def polynomial(v: Inputs) -> NDArray[Any]:
    """Kronecker's substitution: coefficients so far apart in one long integer that none reaches the next."""
    width = 80
    one, other = (sum(c << (width * i) for i, c in enumerate(v[name].tolist())) for name in ("d_input1", "d_input2"))
    whole, mask = one * other, (1 << width) - 1
    return np.array([(whole >> (width * k) & mask) % P for k in range(2 * v["n"] - 1)], np.uint32)


def negated(v: Inputs) -> NDArray[Any]:
    points = [(x, -y % v["p"]) for x, y in zip(v["xs"].tolist(), v["ys"].tolist(), strict=True)]
    return np.array(points, np.uint64)


def zero_negated_to_p(v: Inputs) -> NDArray[Any]:
    return np.stack([v["xs"], np.uint64(v["p"]) - v["ys"]], axis=1)


def radix_sorted(v: Inputs) -> NDArray[Any]:
    values = v["a"]
    for shift in range(0, 30, 10):
        values = values[np.argsort((values >> shift) & 1023, kind="stable")]
    return values


def unreachable_as_minus_one(distances: NDArray[Any]) -> NDArray[Any]:
    return np.where(np.isinf(distances), -1, distances).astype(F)


def paths_of_two_edges(v: Inputs) -> NDArray[Any]:
    lengths = np.where(v["adj_matrix"] == 0, F(np.inf), v["adj_matrix"])
    np.fill_diagonal(lengths, 0)
    return unreachable_as_minus_one(np.stack([(row[:, None] + lengths).min(axis=0) for row in lengths]))


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


def lightest_edges(v: Inputs) -> NDArray[Any]:
    """Each node's lightest edge: some edges appear twice, and the result is not a tree."""
    return np.array([np.where(v["A"] == 0, F(np.inf), v["A"]).min(axis=1)[1:].sum()], F)


test_other_algorithms = are_right(
    ("vector-multiply-ff", products),
    ("poly-multiply-ff", polynomial),
    ("ecc-point-negation", negated),
    ("array-sort", radix_sorted),
    ("all-pairs-shortest-path", lambda v: unreachable_as_minus_one(johnson(v["adj_matrix"]))),
    ("shortest-path", lambda v: unreachable_as_minus_one(dijkstra(v["d_adj_matrix"], indices=v["source"]))),
    ("shortest-path", bellman_ford),
    ("min-spanning-tree", lambda v: np.array([minimum_spanning_tree(v["A"]).sum()], F)),
    ("min-spanning-tree", kruskal),
)
test_wrong_algorithms = fail(
    ("vector-multiply-ff", 9, lambda v: v["d_input1"] * v["d_input2"] % np.uint32(P)),
    ("ecc-point-negation", 6, zero_negated_to_p),
    ("array-sort", 1, lambda v: np.sort(v["a"].reshape(-1, 8192), axis=1).reshape(-1)),
    ("all-pairs-shortest-path", 6, paths_of_two_edges),
    ("shortest-path", 10, lambda v: unreachable_as_minus_one(dijkstra(v["d_adj_matrix"].T, indices=v["source"]))),
    ("min-spanning-tree", 10, lightest_edges),
)
