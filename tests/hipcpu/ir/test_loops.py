from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hipcpu.ir.loops import components, loop_depths


def test_nested_loops_are_counted() -> None:
    graph = {
        "entry": ("outer",),
        "outer": ("inner", "exit"),
        "inner": ("inner", "latch"),
        "latch": ("outer",),
        "exit": (),
    }
    assert loop_depths(graph) == {"entry": 0, "outer": 1, "inner": 2, "latch": 1, "exit": 0}


def test_a_straight_line_is_in_no_loop() -> None:
    assert set(loop_depths({"a": ("b", "c"), "b": ("c",), "c": ()}).values()) == {0}


graphs = st.integers(1, 12).flatmap(
    lambda size: st.fixed_dictionaries({str(n): st.lists(st.integers(0, size - 1).map(str)) for n in range(size)})
)


def _reachable(graph: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += graph[block]
    return found


@given(graphs)
def test_components_are_the_blocks_that_reach_each_other(graph: dict[str, list[str]]) -> None:
    reach = {block: _reachable(graph, block) for block in graph}
    expected = {frozenset({a} | {b for b in reach[a] if a in reach[b]}) for a in graph}
    assert {frozenset(component) for component in components(graph, graph)} == expected


@given(graphs)
def test_a_block_is_in_a_loop_exactly_if_it_reaches_itself(graph: dict[str, list[str]]) -> None:
    depths = loop_depths(graph)
    assert {block for block, depth in depths.items() if depth} == {b for b in graph if b in _reachable(graph, b)}
