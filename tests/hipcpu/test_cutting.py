"""The analyses behind cut kernels, on IR written by hand."""

from __future__ import annotations

from collections.abc import Iterable

from hipcpu.ir.derived_values import needed, without_derived_values
from hipcpu.ir.function import Blocks, blocks_of
from hipcpu.ir.uniformity import uniform_variables
from hipcpu.ir.variables import live_at_entry, variables_of

_LOOP = """entry:
  %t = alloca i32, align 4
  %mine = alloca i32, align 4
  store i32 0, ptr %t, align 4
  store i32 %wp.thread_x, ptr %mine, align 4
  br label %loop

loop:
  %a = load i32, ptr %t, align 4
  %b = add i32 %a, 1
  store i32 %b, ptr %t, align 4
  br label %wp.barrier.0

wp.barrier.0:
  br label %wp.after.0

wp.after.0:
  %c = load i32, ptr %t, align 4
  %more = icmp slt i32 %c, {limit}
  br i1 %more, label %loop, label %end

end:
  %d = load i32, ptr %mine, align 4
  ret void
""".splitlines()


def _blocks(lines: Iterable[str]) -> Blocks:
    return {block.label: block for block in blocks_of(lines)}


def _uniform(limit: str) -> frozenset[str]:
    blocks = _blocks(line.replace("{limit}", limit) for line in _LOOP)
    return uniform_variables(blocks, variables_of(blocks), (), {"%wp.barrier.0"})


def test_loop_counter_with_a_common_limit_is_uniform() -> None:
    assert _uniform("%n") == {"%t"}


def test_nothing_is_uniform_if_threads_diverge_in_the_loop() -> None:
    assert _uniform("%wp.thread_x") == frozenset()


def test_variable_is_alive_across_a_barrier_only_if_it_is_read_later() -> None:
    blocks = _blocks(_LOOP)

    live = live_at_entry(blocks, {"%t", "%mine"})

    assert live["%wp.after.0"] == {"%t", "%mine"}
    assert live["%end"] == {"%mine"}
    assert live["%entry"] == frozenset()


def test_variable_whose_address_is_used_is_not_simple() -> None:
    body = ["entry:", "  %v = alloca i32, align 4", "  %p = getelementptr i8, ptr %v, i64 1", "  ret void"]

    assert not variables_of(_blocks(body))["%v"].simple


def test_definitions_that_follow_from_indices_are_taken_out() -> None:
    body = (
        "  %i = mul i32 %wp.block_x, %n",
        "  %j = add nuw nsw i32 %i, %wp.thread_x",
        "  %p = getelementptr inbounds float, ptr %x, i32 %j",
        "  %v = load float, ptr %p, align 4",
        "  %w = udiv i32 %j, %n",
        "  %u = add i32 %w, 1",
    )

    kept, derived = without_derived_values(_blocks(body), {"%n", "%x", "%wp.block_x", "%wp.thread_x"})

    # A division that could trap stays in place, and so does everything that depends on it.
    assert kept["%0"].lines == list(body[3:])
    assert [(value.result, value.type) for value in derived] == [("%i", "i32"), ("%j", "i32"), ("%p", "ptr")]
    assert [value.result for value in needed(derived, {"%j"})] == ["%i", "%j"]
