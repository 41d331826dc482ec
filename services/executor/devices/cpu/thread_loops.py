"""Loops that run one region for a box of threads: three nested loops around a call that LLVM inlines.

The loops carry LLVM's promise that their iterations do not depend on each other through memory, which is what a kernel
promises about its threads; so the innermost one, over threadIdx.x, is vectorised. The promise is made for the accesses
of the group that the call names: the inliner hands it on to the accesses of the region. Regions with volatile or atomic
accesses come without it: LLVM would try to vectorise those too, and fail an assertion of its own.

A loop whose number of threads is known would be unrolled before it is vectorised, and then not be vectorised: unrolling
is for the vectorised loop only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.executor.devices.cpu.index_values import UNIFORM, parameter
from services.executor.devices.cpu.meeting_area import NEXT
from services.executor.devices.cpu.region_code import region_symbol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_UNIFORM_OFFSET = 12  # bytes, after the three thread indices in BlockIndex
_AXES = "xyz"
_ORDERED_ACCESS = re.compile(r"\b(?:load|store) (?:volatile|atomic)\b")


@dataclass(frozen=True)
class Threads:
    """The threads that a loop runs: IR operands, in the order x, y, z."""

    begin: tuple[str, str, str]
    end: tuple[str, str, str]
    index: Mapping[str, str] = field(default_factory=dict[str, str])
    """Operands in place of loaded indices of the block."""
    rare: bool = False
    """Whether the threads are of a block as it is hardly ever launched."""

    def of_block(self, index: str) -> str:
        """The operand for one of `UNIFORM`."""
        return self.index.get(index, parameter(index))


@dataclass(frozen=True)
class RegionCall:
    """A call of region `number`: the kernel's arguments, and all that is passed after the thread's own indices."""

    kernel: str
    number: int | str
    function: str
    arguments: Sequence[str]
    passed: Sequence[str]
    records: bool = False
    """Whether it is remembered where each thread has come, and whether all have come to the same place."""
    rarely: bool = False
    """Whether it is not worth vectorising."""


class LoopWriter:
    """Writes the IR; `metadata` is the first metadata number that is free in the module."""

    def __init__(self, metadata: int) -> None:
        self._metadata = metadata
        self.metadata_lines: list[str] = []

    def loop(self, call: RegionCall, threads: Threads) -> list[str]:
        """From label `%r<number>` on. `%r<number>.id` is what the last thread returned.

        Where the call records, `.or.new` and `.and.new` are the bitwise or and and of what all have returned.
        """
        r = f"r{call.number}"
        group, loop = self._scalar_metadata() if call.rarely else self._loop_metadata()
        ordered = _ORDERED_ACCESS.search(call.function)
        return [
            f"  br label %{r}.head.z",
            *_head(r, "z", r, threads, _all(call, "0", "-1")),
            f"  br label %{r}.head.y",
            *_head(r, "y", f"{r}.head.z", threads, _all(call, f"%{r}.or.z", f"%{r}.and.z")),
            f"  %{r}.zrows = mul i32 %{r}.z, {threads.of_block('block_dim_y')}",
            f"  %{r}.row = add i32 %{r}.zrows, %{r}.y",
            f"  %{r}.first = mul i32 %{r}.row, {threads.of_block('block_dim_x')}",
            f"  br label %{r}.head.x",
            *_head(r, "x", f"{r}.head.y", threads, _all(call, f"%{r}.or.y", f"%{r}.and.y")),
            f"  %{r}.t32 = add nuw nsw i32 %{r}.first, %{r}.x",
            f"  %{r}.t = zext nneg i32 %{r}.t32 to i64",
            f"  %{r}.lane = and i32 %{r}.t32, 63",
            _call(r, call, threads, group),
            *(_record(r, group) if call.records else []),
            *_latch(r, "x", threads, "" if ordered else f", !llvm.loop !{loop}"),
            *_latch(r, "y", threads, ""),
            *_latch(r, "z", threads, ""),
        ]

    def _scalar_metadata(self) -> tuple[int, int]:
        """For code that is there for completeness: it is compiled in little time, and is slow."""
        group = self._metadata
        self._metadata += 4
        self.metadata_lines += [
            f"!{group} = distinct !{{}}",
            f'!{group + 1} = !{{!"llvm.loop.vectorize.enable", i1 false}}',
            f'!{group + 2} = !{{!"llvm.loop.unroll.disable"}}',
            f"!{group + 3} = distinct !{{!{group + 3}, !{group + 1}, !{group + 2}}}",
        ]
        return group, group + 3

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
    """Fetch the block's indices from `%index`."""
    lines: list[str] = []
    for number, index in enumerate(UNIFORM):
        name = parameter(index)
        lines.append(f"  {name}.p = getelementptr i8, ptr %index, i64 {_UNIFORM_OFFSET + 4 * number}")
        lines.append(f"  {name} = load i32, ptr {name}.p")
    return lines


def _call(r: str, call: RegionCall, threads: Threads, group: int) -> str:
    passed = [*call.arguments, *(f"i32 {threads.of_block(index)}" for index in UNIFORM)]
    passed += [f"i32 %{r}.{axis}" for axis in _AXES]
    passed += [f"i32 %{r}.lane", f"i64 %{r}.t", *call.passed]
    callee = region_symbol(call.kernel, call.number)
    return f"  %{r}.id = call i32 {callee}({', '.join(passed)}), !llvm.access.group !{group}"


def _all(call: RegionCall, either: str, both: str) -> tuple[str, str] | None:
    return (either, both) if call.records else None


def _head(r: str, axis: str, before: str, threads: Threads, start: tuple[str, str] | None) -> list[str]:
    latch, begin = f"%{r}.latch.{axis}", threads.begin[_AXES.index(axis)]
    lines = [f"{r}.head.{axis}:", f"  %{r}.{axis} = phi i32 [ {begin}, %{before} ], [ %{r}.{axis}.next, {latch} ]"]
    if start:
        either, both = start
        lines += [
            f"  %{r}.or.{axis} = phi i32 [ {either}, %{before} ], [ %{r}.or.new, {latch} ]",
            f"  %{r}.and.{axis} = phi i32 [ {both}, %{before} ], [ %{r}.and.new, {latch} ]",
        ]
    return lines


def _latch(r: str, axis: str, threads: Threads, metadata: str) -> list[str]:
    return [
        f"  br label %{r}.latch.{axis}",
        f"{r}.latch.{axis}:",
        f"  %{r}.{axis}.next = add nuw nsw i32 %{r}.{axis}, 1",
        f"  %{r}.{axis}.more = icmp ult i32 %{r}.{axis}.next, {threads.end[_AXES.index(axis)]}",
        f"  br i1 %{r}.{axis}.more, label %{r}.head.{axis}, label %{r}.done.{axis}{metadata}",
        f"{r}.done.{axis}:",
    ]


def _record(r: str, group: int) -> list[str]:
    """Remember where the thread has come, for when not all have come to the same place."""
    return [
        f"  %{r}.next = getelementptr i8, ptr %wp.meeting_area, i64 {NEXT}",
        f"  %{r}.next.t = getelementptr i32, ptr %{r}.next, i64 %{r}.t",
        f"  store i32 %{r}.id, ptr %{r}.next.t, !llvm.access.group !{group}",
        f"  %{r}.or.new = or i32 %{r}.or.x, %{r}.id",
        f"  %{r}.and.new = and i32 %{r}.and.x, %{r}.id",
    ]


def unused_metadata(text: str) -> int:
    """The first metadata number that a module does not use."""
    numbers = [int(line[1 : line.index(" ")]) for line in text.splitlines() if line[:1] == "!" and line[1:2].isdigit()]
    return max(numbers, default=-1) + 1
