"""The loops inside kernels that are turned inside out, on IR written by hand."""

from __future__ import annotations

import pytest

from hipcpu.forms.loop_splits import with_split_points
from hipcpu.ir.function import Blocks, blocks_of
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.synchronisation import SPLIT_POINT
from hipcpu.ir.thread_strides import Stride, strides_of

_BODY = """entry:
  %first = add i32 %base, %wp.thread_x
  br label %loop

loop:
  %i = phi i32 [ %first, %entry ], [ %next, %loop ]
  %sum = phi float [ 0.000000e+00, %entry ], [ %more, %loop ]
  %index = {index}
  %wide = sext i32 %index to i64
  %p = getelementptr inbounds float, ptr %a, i64 %wide
  %v = load float, ptr %p, align 4
  %more = fadd float %sum, %v
  %next = add i32 %i, %step
  %go = icmp slt i32 %next, %n
  br i1 %go, label %loop, label %after

after:
  call void @__wp_block_barrier(i32 0, i32 7)
  ret void"""
_PARAMETERS = ("%base", "%a", "%step", "%n")


def _split(index: str, *, barrier: bool = True) -> Blocks:
    text = _BODY.replace("{index}", index)
    if not barrier:
        text = text.replace("  call void @__wp_block_barrier(i32 0, i32 7)\n", "")
    blocks = {block.label: block for block in blocks_of(text.splitlines())}
    return with_split_points(blocks, _PARAMETERS)


def _is_split(blocks: Blocks) -> bool:
    return any(SPLIT_POINT in block.instructions for block in blocks.values())


def test_loop_over_neighbouring_elements_is_split_at_its_head_and_its_end() -> None:
    blocks = _split("add i32 %i, 3")

    assert [label for label, block in blocks.items() if SPLIT_POINT in block.instructions] == ["%loop", "%after"]
    head, end = blocks["%loop"], blocks["%after"]
    assert head.instructions[len(head.phis)] == end.instructions[0] == SPLIT_POINT


@pytest.mark.parametrize("index", ["mul i32 %i, %n", "shl i32 %i, 1", "xor i32 %i, 1"])
def test_loop_over_elements_that_are_no_neighbours_stays(index: str) -> None:
    assert not _is_split(_split(index))


@pytest.mark.parametrize("call", ["call void @f()", 'call void asm sideeffect "", "~{memory}"()', "call void %p()"])
def test_loop_that_calls_something_stays(call: str) -> None:
    assert not _is_split(_split(f"add i32 %i, 3\n  {call}"))


def test_kernel_without_barriers_stays() -> None:
    assert not _is_split(_split("add i32 %i, 3", barrier=False))


def test_index_that_grows_from_thread_to_thread_is_split() -> None:
    body = _split("add i32 %i, 3")["%loop"].instructions

    (phi,) = [one for one in body if one.opcode == "phi" and one.type == "i32"]
    assert "%wp.thread_x" not in phi.names
    assert phi.result != "%i"
    (sum_of_parts,) = [one for one in body if one.result == "%i"]
    assert body.index(sum_of_parts) > body.index(SPLIT_POINT)


def test_strides_follow_arithmetic() -> None:
    body = ("  %a = mul i32 %t, 4", "  %b = sub i32 %u, %a", "  %c = udiv i32 %b, 2", "  %d = icmp eq i32 %u, 1")

    strides = strides_of(map(Instruction, body), {"%t": Stride(1), "%u": Stride(0)})

    assert strides["%a"] == Stride(4)
    assert strides["%b"] == Stride(-4)
    assert strides["%c"] is None
    assert strides["%d"] == Stride(0)
