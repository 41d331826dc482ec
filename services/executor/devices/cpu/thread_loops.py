"""The function that runs one region for a box of threads: three nested loops around a call that LLVM inlines.

The loops carry LLVM's promise that their iterations do not depend on each other through memory, which is what a kernel
promises about its threads; so the innermost one, over threadIdx.x, is vectorised. The promise is made for the accesses
of the group that the call names: the inliner hands it on to the accesses of the region. Regions with volatile or atomic
accesses come without it: LLVM would try to vectorise those too, and fail an assertion of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.executor.devices.cpu.index_values import UNIFORM, parameter
from services.executor.devices.cpu.regions import region_symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.cpu.regions import Regions

_UNIFORM_OFFSET = 12  # bytes, after the three thread indices in BlockIndex
_AXES = "xyz"
_ORDERED_ACCESS = re.compile(r"\b(?:load|store) (?:volatile|atomic)\b")
_PARAMETERS = (
    "ptr noalias readonly %arguments, ptr noalias readonly %index, ptr noalias %wp.context, "
    "ptr noalias %wp.meeting_area, i32 %region, ptr noalias readonly %box"
)


def regions_symbol(kernel: str) -> str:
    """The symbol of the function that runs a region of the kernel called `kernel`."""
    return f'@"__wp_regions.{kernel}"'


class LoopWriter:
    """Writes the IR; `metadata` is the first metadata number that is free in the module."""

    def __init__(self, metadata: int) -> None:
        self._metadata = metadata
        self.metadata_lines: list[str] = []

    def regions_function(self, kernel: str, loads: Sequence[str], arguments: Sequence[str], cut: Regions) -> str:
        """`loads` fetch the kernel's arguments and `arguments` passes them on."""
        count = len(cut.functions)
        cases = " ".join(f"i32 {number}, label %r{number}" for number in range(count))
        lines = [
            f"define internal i64 {regions_symbol(kernel)}({_PARAMETERS}) {{",
            "entry:",
            *loads,
            *_uniform_loads(),
            *_box_loads(),
            f"  switch i32 %region, label %none [ {cases} ]",
            "none:",
            "  unreachable",
        ]
        for number in range(count):
            uniform_loads, uniforms = _uniform_variables(number, cut)
            lines += [f"r{number}:", *uniform_loads]
            lines += self._loops(kernel, number, [arguments, uniforms], cut)
        return "\n".join([*lines, "}"])

    def _loops(self, kernel: str, number: int, ends: Sequence[Sequence[str]], cut: Regions) -> list[str]:
        r = f"r{number}"
        ordered, records = _ORDERED_ACCESS.search(cut.functions[number]), len(cut.functions) > 1
        group, loop = self._loop_metadata()
        passed = [*ends[0], *(f"i32 {parameter(index)}" for index in UNIFORM)]
        passed += [f"i32 %{r}.{axis}" for axis in _AXES]
        passed += [f"i32 %{r}.lane", f"i64 %{r}.t", "ptr %wp.context", "ptr %wp.meeting_area", "i64 %after_side"]
        passed += ends[1]
        call = f"  %{r}.id = call i32 {region_symbol(kernel, number)}({', '.join(passed)}), !llvm.access.group !{group}"
        return [
            f"  br label %{r}.head.z",
            *_head(r, "z", r, "0", "-1"),
            f"  br label %{r}.head.y",
            *_head(r, "y", f"{r}.head.z", f"%{r}.or.z", f"%{r}.and.z"),
            f"  %{r}.zrows = mul i32 %{r}.z, %wp.block_dim_y",
            f"  %{r}.row = add i32 %{r}.zrows, %{r}.y",
            f"  %{r}.first = mul i32 %{r}.row, %wp.block_dim_x",
            f"  br label %{r}.head.x",
            *_head(r, "x", f"{r}.head.y", f"%{r}.or.y", f"%{r}.and.y"),
            f"  %{r}.t32 = add nuw nsw i32 %{r}.first, %{r}.x",
            f"  %{r}.t = zext nneg i32 %{r}.t32 to i64",
            f"  %{r}.lane = and i32 %{r}.t32, 63",
            call,
            *(_record(r, group) if records else []),
            f"  %{r}.or.new = or i32 %{r}.or.x, %{r}.id",
            f"  %{r}.and.new = and i32 %{r}.and.x, %{r}.id",
            *_latch(r, "x", "" if ordered else f", !llvm.loop !{loop}"),
            *_latch(r, "y", ""),
            *_latch(r, "z", ""),
            f"  %{r}.high = zext i32 %{r}.or.new to i64",
            f"  %{r}.shifted = shl i64 %{r}.high, 32",
            f"  %{r}.low = zext i32 %{r}.and.new to i64",
            f"  %{r}.both = or i64 %{r}.shifted, %{r}.low",
            f"  ret i64 %{r}.both",
        ]

    def _loop_metadata(self) -> tuple[int, int]:
        group = self._metadata
        self._metadata += 3
        self.metadata_lines += [
            f"!{group} = distinct !{{}}",
            f'!{group + 1} = !{{!"llvm.loop.parallel_accesses", !{group}}}',
            f"!{group + 2} = distinct !{{!{group + 2}, !{group + 1}}}",
        ]
        return group, group + 2


def _uniform_loads() -> list[str]:
    lines: list[str] = []
    for number, index in enumerate(UNIFORM):
        name = parameter(index)
        lines.append(f"  {name}.p = getelementptr i8, ptr %index, i64 {_UNIFORM_OFFSET + 4 * number}")
        lines.append(f"  {name} = load i32, ptr {name}.p")
    return lines


def _box_loads() -> list[str]:
    lines: list[str] = []
    for number, name in enumerate(f"{end}.{axis}" for axis in _AXES for end in ("begin", "end")):
        lines.append(f"  %{name}.p = getelementptr i32, ptr %box, i64 {number}")
        lines.append(f"  %{name} = load i32, ptr %{name}.p")
    lines += ["  %side.p = getelementptr i32, ptr %box, i64 6", "  %side.32 = load i32, ptr %side.p"]
    return [*lines, "  %before_side = zext i32 %side.32 to i64", "  %after_side = xor i64 %before_side, 1"]


def _uniform_variables(number: int, cut: Regions) -> tuple[list[str], list[str]]:
    """Fetch the uniform variables that a region is passed, before its loop: the region may change them."""
    lines: list[str] = []
    passed: list[str] = []
    for uniform in cut.uniforms[number]:
        name = f"%r{number}.uniform.{uniform.slot}"
        where = f"ptr %wp.context, i64 0, i32 {uniform.slot}, i64 %before_side"
        lines += [f"  {name}.p = getelementptr {cut.context}, {where}", f"  {name} = load {uniform.type}, ptr {name}.p"]
        passed.append(f"{uniform.type} {name}")
    return lines, passed


def _head(r: str, axis: str, before: str, either: str, both: str) -> list[str]:
    latch = f"%{r}.latch.{axis}"
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
    """Remember where the thread has come, for when not all have come to the same place."""
    offset = 3 * 8192 + 16 * 8 + 8
    return [
        f"  %{r}.next = getelementptr i8, ptr %wp.meeting_area, i64 {offset}",
        f"  %{r}.next.t = getelementptr i32, ptr %{r}.next, i64 %{r}.t",
        f"  store i32 %{r}.id, ptr %{r}.next.t, !llvm.access.group !{group}",
    ]


def unused_metadata(text: str) -> int:
    """The first metadata number that a module does not use."""
    numbers = [int(line[1 : line.index(" ")]) for line in text.splitlines() if line[:1] == "!" and line[1:2].isdigit()]
    return max(numbers, default=-1) + 1
