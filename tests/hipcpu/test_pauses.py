"""Which loops inside kernels are turned inside out, on IR written by hand."""

from __future__ import annotations

import pytest

from hipcpu.forms.pauses import with_pauses
from hipcpu.ir.synchronisation import PAUSE
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
  call void @__wp_block_meet(i32 0, i32 7)
  ret void"""
_PARAMETERS = ("%base", "%a", "%step", "%n")


def _paused(index: str, *, meeting: bool = True) -> tuple[str, ...]:
    text = _BODY.replace("{index}", index)
    if not meeting:
        text = text.replace("  call void @__wp_block_meet(i32 0, i32 7)\n", "")
    return with_pauses(tuple(text.splitlines()), _PARAMETERS)


def test_loop_over_neighbouring_elements_pauses_at_its_head_and_its_end() -> None:
    body = _paused("add i32 %i, 3")

    assert [line for line in body if line == PAUSE] == [PAUSE, PAUSE]
    head = body.index(PAUSE)
    assert " = phi float " in body[head - 1]
    assert body[body.index("after:") + 1] == PAUSE


@pytest.mark.parametrize("index", ["mul i32 %i, %n", "shl i32 %i, 1", "xor i32 %i, 1"])
def test_loop_over_elements_that_are_no_neighbours_stays(index: str) -> None:
    assert PAUSE not in _paused(index)


def test_kernel_without_meetings_stays() -> None:
    assert PAUSE not in _paused("add i32 %i, 3", meeting=False)


def test_index_that_grows_from_thread_to_thread_is_split() -> None:
    body = _paused("add i32 %i, 3")

    (phi,) = [line for line in body if " = phi i32 " in line]
    assert "%wp.thread_x" not in phi
    assert "%i = " not in phi
    (sum_of_parts,) = [line for line in body if line.startswith("  %i = ")]
    assert body.index(sum_of_parts) > body.index(PAUSE)


def test_strides_follow_arithmetic() -> None:
    body = ("  %a = mul i32 %t, 4", "  %b = sub i32 %u, %a", "  %c = udiv i32 %b, 2", "  %d = icmp eq i32 %u, 1")

    strides = strides_of(body, {"%t": Stride(1), "%u": Stride(0)})

    assert strides["%a"] == Stride(4)
    assert strides["%b"] == Stride(-4)
    assert strides["%c"] is None
    assert strides["%d"] == Stride(0)
