"""Loops that run one region for a box of threads: three nested loops around a call that LLVM inlines.

The loops promise LLVM that their iterations do not depend on each other through memory, which a kernel promises about
its threads; so the innermost one, over threadIdx.x, is vectorised. The promise covers the accesses of the group that
the call names: the inliner passes it on to the accesses of the region. Regions with volatile or atomic accesses get no
promise: LLVM would try to vectorise those too, and fail an assertion of its own.

A loop with a known number of threads would be unrolled before it is vectorised, and then not be vectorised: unrolling
is for the vectorised loop only.

The time of several of LLVM's passes grows with the square of the loops in a function. So each loop of a kernel with
many regions is a function of its own: a flash attention with 160 shuffles took 47 s to compile as one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hipcpu.forms.barrier_area import NEXT
from hipcpu.forms.barrier_regions import region_symbol
from hipcpu.ir.function import Function
from hipcpu.ir.index_values import UNIFORM, parameter

_UNIFORM_OFFSET = 12  # bytes, after the three thread indices in BlockIndex
_MOST_LOOPS_IN_A_FUNCTION = 24
_AXES = "xyz"
_BOUNDS = tuple(f"%{end}.{axis}" for end in ("begin", "end") for axis in _AXES)
"""The bounds of the threads that a loop runs, as `box_functions` loads them."""


@dataclass(frozen=True)
class RegionCall:
    """A call of region `number`: the kernel's arguments, and all that is passed after the thread's indices."""

    kernel: str
    number: int
    function: Function
    arguments: Sequence[str]
    passed: Sequence[str]


class LoopWriter:
    """Writes the IR of loops; `metadata` is the first free metadata number in the module."""

    def __init__(self, metadata: int) -> None:
        self._metadata = metadata
        self.metadata_lines: list[str] = []
        self.functions: list[str] = []

    def loop_of_many(self, call: RegionCall, caller: str, count: int) -> list[str]:
        """Return `loop` for one of the `count` loops of function `caller`; if too many, as a call of a function."""
        if count <= _MOST_LOOPS_IN_A_FUNCTION:
            return self.loop(call)
        results = [f"%r{call.number}.or.new", f"%r{call.number}.and.new"]
        type_ = "{ i32, i32 }"
        symbol = f'{caller[:-1]}.loop.{call.number}"'
        indices = [f"i32 {value}" for value in (*map(parameter, UNIFORM), *_BOUNDS)]
        operands = [*call.arguments, *indices, *call.passed]
        self.functions.append(self._function(f"{type_} {symbol}", operands, call, results))
        return [
            f"  %r{call.number}.result = call {type_} {symbol}({', '.join(operands)})",
            *(f"  {name} = extractvalue {type_} %r{call.number}.result, {at}" for at, name in enumerate(results)),
        ]

    def _function(self, title: str, operands: Sequence[str], call: RegionCall, results: Sequence[str]) -> str:
        """Return the loop as a function."""
        type_ = title.partition(" @")[0]
        lines = [
            f"define internal {title}({', '.join(operands)}) noinline {{",
            "entry:",
            f"  br label %r{call.number}",
            f"r{call.number}:",
            *self.loop(call),
        ]
        packed = "poison"
        for at, name in enumerate(results):
            lines.append(f"  %wp.result.{at} = insertvalue {type_} {packed}, i32 {name}, {at}")
            packed = f"%wp.result.{at}"
        return "\n".join([*lines, f"  ret {type_} {packed}", "}"])

    def loop(self, call: RegionCall) -> list[str]:
        """Return the loop from label `%r<number>` on.

        `%r<number>.or.new` and `.and.new` are the bitwise OR and AND of all threads' results.
        """
        r = f"r{call.number}"
        group, loop = self._loop_metadata()
        ordered = any(one.pointer and not one.is_plain for one in call.function.instructions)
        return [
            f"  br label %{r}.head.z",
            *_head(r, "z", r, ("0", "-1")),
            f"  br label %{r}.head.y",
            *_head(r, "y", f"{r}.head.z", (f"%{r}.or.z", f"%{r}.and.z")),
            f"  %{r}.zrows = mul i32 %{r}.z, {parameter('block_dim_y')}",
            f"  %{r}.row = add i32 %{r}.zrows, %{r}.y",
            f"  %{r}.first = mul i32 %{r}.row, {parameter('block_dim_x')}",
            f"  br label %{r}.head.x",
            *_head(r, "x", f"{r}.head.y", (f"%{r}.or.y", f"%{r}.and.y")),
            f"  %{r}.t32 = add nuw nsw i32 %{r}.first, %{r}.x",
            f"  %{r}.t = zext nneg i32 %{r}.t32 to i64",
            f"  %{r}.lane = and i32 %{r}.t32, 63",
            _call(r, call, group),
            *_record(r, group),
            *_latch(r, "x", "" if ordered else f", !llvm.loop !{loop}"),
            *_latch(r, "y", ""),
            *_latch(r, "z", ""),
        ]

    def _loop_metadata(self) -> tuple[int, int]:
        group = self._metadata
        self._metadata += 6
        self.metadata_lines += [
            f"!{group} = distinct !{{}}",
            f'!{group + 1} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
            f'!{group + 2} = !{{!"llvm.loop.unroll.disable"}}',
            f'!{group + 3} = !{{!"llvm.loop.isvectorized", i32 1}}',
            f'!{group + 4} = !{{!"llvm.loop.vectorize.followup_vectorized", !{group + 3}}}',
            f"!{group + 5} = distinct !{{!{group + 5}, !{group + 1}, !{group + 2}, !{group + 4}}}",
        ]
        return group, group + 5


def index_loads() -> list[str]:
    """Return the loads of the block's indices from `%index`."""
    lines: list[str] = []
    for number, index in enumerate(UNIFORM):
        name = parameter(index)
        lines.append(f"  {name}.p = getelementptr i8, ptr %index, i64 {_UNIFORM_OFFSET + 4 * number}")
        lines.append(f"  {name} = load i32, ptr {name}.p")
    return lines


def _call(r: str, call: RegionCall, group: int) -> str:
    passed = [*call.arguments, *(f"i32 {parameter(index)}" for index in UNIFORM)]
    passed += [f"i32 %{r}.{axis}" for axis in _AXES]
    passed += [f"i32 %{r}.lane", f"i64 %{r}.t", *call.passed]
    callee = region_symbol(call.kernel, call.number)
    return f"  %{r}.id = call i32 {callee}({', '.join(passed)}), !llvm.access.group !{group}"


def _head(r: str, axis: str, before: str, start: tuple[str, str]) -> list[str]:
    latch = f"%{r}.latch.{axis}"
    either, both = start
    return [
        f"{r}.head.{axis}:",
        f"  %{r}.{axis} = phi i32 [ %begin.{axis}, %{before} ], [ %{r}.{axis}.next, {latch} ]",
        f"  %{r}.or.{axis} = phi i32 [ {either}, %{before} ], [ %{r}.or.new, {latch} ]",
        f"  %{r}.and.{axis} = phi i32 [ {both}, %{before} ], [ %{r}.and.new, {latch} ]",
    ]


def _latch(r: str, axis: str, metadata: str) -> list[str]:
    return [
        f"  br label %{r}.latch.{axis}",
        f"{r}.latch.{axis}:",
        f"  %{r}.{axis}.next = add nuw nsw i32 %{r}.{axis}, 1",
        f"  %{r}.{axis}.more = icmp ult i32 %{r}.{axis}.next, %end.{axis}",
        f"  br i1 %{r}.{axis}.more, label %{r}.head.{axis}, label %{r}.done.{axis}{metadata}",
        f"{r}.done.{axis}:",
    ]


def _record(r: str, group: int) -> list[str]:
    """Record the place that the thread has reached, for the case that others reach another one."""
    return [
        f"  %{r}.next = getelementptr i8, ptr %wp.barrier_area, i64 {NEXT}",
        f"  %{r}.next.t = getelementptr i32, ptr %{r}.next, i64 %{r}.t",
        f"  store i32 %{r}.id, ptr %{r}.next.t, !llvm.access.group !{group}",
        f"  %{r}.or.new = or i32 %{r}.or.x, %{r}.id",
        f"  %{r}.and.new = and i32 %{r}.and.x, %{r}.id",
    ]
