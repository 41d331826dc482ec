"""Pauses: where threads might wait for each other, so that a loop inside a kernel is run for all threads at a time.

Theory of operation
-------------------
An inner loop that is not unrolled keeps the loop over threads around it from being vectorised, and where neighbouring
threads read neighbouring elements it is run in the wrong order, too: each thread by itself strides through memory. So
such loops are turned inside out. A pause is set at the loop's head and where the loop is left; the kernel is cut there
as it is at meetings, and what lies between is one iteration, run for all threads. Threads that leave the loop sooner
than others are the block function's business (`block_functions`).

This is done where it pays: the kernel has meetings, and the loop is innermost, calls nothing, and from thread to thread
all its addresses stay or grow by one element. (Without meetings it would pay more than anywhere: a naive matmul ran 40
times faster. But that took 1.4 s to compile in place of 0.1 s.)

The variables of such a loop that grow from thread to thread, like the index of a grid-stride loop, are split into a
uniform part, which is kept once, and the thread's own part, which is added where it is used: kept per thread, LLVM
would no longer know that they are neighbours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.ir.blocks import Block, blocks_of
from hipcpu.ir.index_values import UNIFORM, parameter
from hipcpu.ir.synchronisation import PAUSE, meeting_in
from hipcpu.ir.thread_strides import Stride, size_of, stride_of, strides_of
from hipcpu.ir.uniform_parts import with_uniform_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hipcpu.ir.thread_strides import Strides

_LOAD = re.compile(r"^\s*\S+ = load ([^,]+), ptr ([^\s,]+)")
_STORE = re.compile(r"^\s*store (\S+) \S+, ptr ([^\s,]+)")
_MEMORY = re.compile(r"^\s*(?:\S+ = )?(?:load|store|atomicrmw|cmpxchg|fence)\b")
_FOREIGN_CALL = re.compile(r"\bcall (?!.*@llvm\.)|\binvoke ")
_PHI = " = phi "
# Each is a load and a store per iteration and thread.
_MOST_VARIABLES = 8


def with_pauses(body: tuple[str, ...], parameters: Iterable[str]) -> tuple[str, ...]:
    """The body, in SSA form and with index parameters, with pauses in those loops where they pay."""
    if not any(meeting_in(line) for line in body):
        return body
    blocks = blocks_of(body)
    loops = [loop for loop in _innermost_loops(blocks) if _may_pause(blocks, loop)]
    if not loops:
        return body
    given: Strides = dict.fromkeys([*parameters, *(parameter(index) for index in UNIFORM)], Stride(0))
    given |= {parameter("thread_x"): Stride(1), parameter("thread_y"): Stride(0, pure=False)}
    given |= {parameter("thread_z"): Stride(0, pure=False), parameter("lane"): None}
    strides = strides_of(body, given)
    changed, split = with_uniform_parts(body, strides, {loop[0] for loop in loops})
    # What is kept per thread has no stride that LLVM could see.
    kept = {name: None for loop in loops for name in _kept(blocks[loop[0]], strides) if name not in split}
    strides = strides_of(body, {**given, **kept})
    chosen = [loop for loop in loops if _pays(blocks, loop, strides)]
    if not chosen:
        return body
    places = {loop[0] for loop in chosen} | {target for loop in chosen for target in _left_for(blocks, loop)}
    return _with_calls(changed, places)


def _innermost_loops(blocks: Mapping[str, Block]) -> list[list[str]]:
    """Each loop's blocks, its head first, for loops that contain no other."""
    loops: dict[str, set[str]] = {}
    order = {label: number for number, label in enumerate(blocks)}
    sources = _sources(blocks)
    for label, block in blocks.items():
        for target in block.targets:
            members = _members(sources, target, label)
            if members is not None:
                loops.setdefault(target, set()).update(members)
    inner = [head for head in loops if not any(other != head and other in loops[head] for other in loops)]
    return [[head, *sorted(loops[head] - {head}, key=order.__getitem__)] for head in inner]


def _sources(blocks: Mapping[str, Block]) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {label: [] for label in blocks}
    for label, block in blocks.items():
        for target in block.targets:
            sources[target].append(label)
    return sources


def _members(sources: Mapping[str, Sequence[str]], head: str, end: str) -> set[str] | None:
    """The blocks of the loop that goes from `end` back to `head`; None where `head` does not dominate `end`."""
    members, waiting = {head, end}, [end] if end != head else []
    first = next(iter(sources))
    while waiting:
        label = waiting.pop()
        if label == first:
            return None
        fresh = [source for source in sources[label] if source not in members]
        members.update(fresh)
        waiting += fresh
    return members


def _may_pause(blocks: Mapping[str, Block], loop: Sequence[str]) -> bool:
    lines = [line for label in loop for line in blocks[label].lines]
    if any(_FOREIGN_CALL.search(line) or meeting_in(line) for line in lines):
        return False
    accesses = [line for line in lines if _MEMORY.match(line)]
    plain = all((_LOAD.match(line) or _STORE.match(line)) and " volatile " not in line for line in accesses)
    return bool(accesses) and plain and len(_phis(blocks[loop[0]])) <= _MOST_VARIABLES


def _phis(block: Block) -> list[str]:
    return [line.split(" = ", 1)[0].strip() for line in block.lines if _PHI in line]


def _kept(head: Block, strides: Strides) -> list[str]:
    return [name for name in _phis(head) if (s := strides.get(name)) is None or s.step or not s.pure]


def _pays(blocks: Mapping[str, Block], loop: Sequence[str], strides: Strides) -> bool:
    neighbours = 0
    for line in (line for label in loop for line in blocks[label].lines):
        match = _LOAD.match(line) or _STORE.match(line)
        if match:
            stride = stride_of(match[2], strides)
            if stride is None or stride.step not in (0, size_of(match[1])):
                return False
            neighbours += stride.step != 0
    return neighbours > 0


def _left_for(blocks: Mapping[str, Block], loop: Sequence[str]) -> set[str]:
    """Where threads go on that leave a loop."""
    inside = set(loop)
    targets = {target for label in loop for target in blocks[label].targets} - inside
    return {target for target in targets if blocks[target].lines[-1].strip() != "unreachable"}


def _with_calls(body: Sequence[str], places: set[str]) -> tuple[str, ...]:
    lines: list[str] = []
    waiting = False
    for line in body:
        if waiting and line.strip() and _PHI not in line:
            lines.append(PAUSE)
            waiting = False
        lines.append(line)
        if line[:1] not in ("", " ") and ":" in line:
            waiting = "%" + line.partition(":")[0] in places
    return tuple(lines)
