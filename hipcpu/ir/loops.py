"""Loops in a control-flow graph: their blocks, and how deep these are nested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def loops_of(successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return every loop's blocks, its head first and the others in the graph's order.

    A loop is a set of blocks that reach each other. Its head is the block at which it is entered; without the head, the
    loops inside it remain.
    """
    found: list[list[str]] = []
    waiting: list[list[str]] = [list(successors)]
    first = next(iter(successors), "")
    while waiting:
        blocks = waiting.pop()
        for component in components(blocks, successors):
            members = set(component)
            if len(members) == 1 and component[0] not in successors[component[0]]:
                continue
            entered = {first, *(to for block in successors if block not in members for to in successors[block])}
            ordered = [block for block in blocks if block in members]
            head = next((block for block in ordered if block in entered), ordered[0])
            rest = [block for block in ordered if block != head]
            found.append([head, *rest])
            waiting.append(rest)
    return found


def loop_depths(successors: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of loops around each block: 0 for code that runs once."""
    depths = dict.fromkeys(successors, 0)
    for loop in loops_of(successors):
        for block in loop:
            depths[block] += 1
    return depths


def components(blocks: Iterable[str], successors: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the strongly connected components of the subgraph of `blocks` (Kosaraju's two passes, not recursive)."""
    inside = dict.fromkeys(blocks)
    forward = {block: [each for each in successors[block] if each in inside] for block in inside}
    backward: dict[str, list[str]] = {block: [] for block in inside}
    for block, targets in forward.items():
        for target in targets:
            backward[target].append(block)
    finished: list[str] = []
    seen: set[str] = set()
    for block in inside:
        finished += _postorder(block, forward, seen)
    found: list[list[str]] = []
    seen = set()
    for block in reversed(finished):
        found.append(_postorder(block, backward, seen))  # noqa: PERF401  `seen` grows on the way
    return [component for component in found if component]


def _postorder(root: str, edges: Mapping[str, Sequence[str]], seen: set[str]) -> list[str]:
    if root in seen:
        return []
    seen.add(root)
    order: list[str] = []
    stack = [(root, iter(edges[root]))]
    while stack:
        following = next((each for each in stack[-1][1] if each not in seen), None)
        if following is None:
            order.append(stack.pop()[0])
        else:
            seen.add(following)
            stack.append((following, iter(edges[following])))
    return order
