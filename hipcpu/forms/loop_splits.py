"""Split points: extra places to wait at, so that a loop inside a kernel runs for all threads at a time.

Theory of operation
-------------------
An inner loop that is not unrolled keeps the loop over threads around it from being vectorised. If neighbouring threads
read neighbouring elements, it also runs in the wrong order: each thread by itself strides through memory. So such loops
are turned inside out. A split point is set at the loop's head and at its exits; the kernel is cut there as at barriers,
and the code between is one iteration, run for all threads. The block function handles threads that leave the loop
before others (`block_functions`).

This is done if it pays: the kernel has barriers, and the loop is innermost, calls nothing, and from thread to thread
all its addresses stay the same or grow by one element. (Without barriers it would pay most: a naive matmul ran 40 times
faster. But that took 1.4 s to compile instead of 0.1 s.)

A variable of such a loop that grows from thread to thread, like the index of a grid-stride loop, is split into a
uniform part, which is kept once, and the thread's own part, which is added at each use: if it were kept per thread,
LLVM would no longer know that the values are neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hipcpu.ir.function import successors_of
from hipcpu.ir.index_values import UNIFORM, parameter
from hipcpu.ir.loops import innermost_loops
from hipcpu.ir.synchronisation import SPLIT_POINT, barrier_of
from hipcpu.ir.thread_strides import Stride, element_bytes, stride_of, strides_of
from hipcpu.ir.uniform_parts import with_uniform_parts
from hipcpu.ir.value_types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hipcpu.ir.function import Block, Blocks
    from hipcpu.ir.instruction import Instruction
    from hipcpu.ir.thread_strides import Strides

# Each costs a load and a store per iteration and thread.
_MOST_VARIABLES = 8


def with_split_points(blocks: Blocks, parameters: Iterable[str]) -> Blocks:
    """Return the body, in SSA form and with index parameters, with split points in the loops in which they pay."""
    body = [one for block in blocks.values() for one in block.instructions]
    if not any(map(barrier_of, body)):
        return blocks
    loops = [loop for loop in innermost_loops(successors_of(blocks)) if _may_be_split(blocks, loop)]
    if not loops:
        return blocks
    given: Strides = dict.fromkeys([*parameters, *(parameter(index) for index in UNIFORM)], Stride(0))
    given |= {parameter("thread_x"): Stride(1), parameter("thread_y"): Stride(0, pure=False)}
    given |= {parameter("thread_z"): Stride(0, pure=False), parameter("lane"): None}
    strides = strides_of(body, given)
    changed, split = with_uniform_parts(blocks, strides, {loop[0] for loop in loops})
    # LLVM cannot see the stride of a value that is kept per thread.
    kept = {name: None for loop in loops for name in _kept(blocks[loop[0]], strides) if name not in split}
    strides = strides_of(body, {**given, **kept})
    chosen = [loop for loop in loops if _pays(blocks, loop, strides)]
    if not chosen:
        return blocks
    places = {loop[0] for loop in chosen} | {target for loop in chosen for target in _left_for(blocks, loop)}
    return {label: _split(block) if label in places else block for label, block in changed.items()}


def _instructions(blocks: Blocks, loop: Sequence[str]) -> list[Instruction]:
    return [one for label in loop for one in blocks[label].instructions]


def _may_be_split(blocks: Blocks, loop: Sequence[str]) -> bool:
    body = _instructions(blocks, loop)
    if any(one.is_call and not one.calls("@llvm.") for one in body):
        return False
    accesses = [one for one in body if one.touches_memory]
    return bool(accesses) and all(map(_is_simple, accesses)) and len(blocks[loop[0]].phis) <= _MOST_VARIABLES


def _is_simple(access: Instruction) -> bool:
    if not access.is_plain:
        return False
    return access.opcode == "load" or (access.opcode == "store" and is_scalar(access.accessed_type))


def _kept(head: Block, strides: Strides) -> list[str]:
    return [one.result for one in head.phis if (s := strides.get(one.result)) is None or s.step or not s.pure]


def _pays(blocks: Blocks, loop: Sequence[str], strides: Strides) -> bool:
    neighbours = 0
    for one in _instructions(blocks, loop):
        if one.pointer:
            stride = stride_of(one.pointer, strides)
            if stride is None or stride.step not in (0, element_bytes(one.accessed_type)):
                return False
            neighbours += stride.step != 0
    return neighbours > 0


def _left_for(blocks: Blocks, loop: Sequence[str]) -> set[str]:
    """Return the labels at which threads go on after the loop."""
    targets = {target for label in loop for target in blocks[label].targets} - set(loop)
    return {target for target in targets if blocks[target].instructions[-1].opcode != "unreachable"}


def _split(block: Block) -> Block:
    phis = block.phis
    return block.with_instructions([*phis, SPLIT_POINT, *block.instructions[len(phis) :]])
