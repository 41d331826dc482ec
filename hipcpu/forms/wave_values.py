"""Reading the results of a meeting straight from the meeting area instead of by calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hipcpu.forms.meeting_area import ACTIVE, ARRIVED, COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable

_VALUE = re.compile(r"^\s*(%\S+) = .*call .*i64 @__wp_wave_value\(i32 (?:noundef )?(?:range\([^)]*\) )?(\S+)\)")
_ACTIVE = re.compile(r"^\s*(%\S+) = .*call .*i64 @__wp_wave_active\(\)")
_SHIFTED = re.compile(r"^\s*(%\S+) = .*call .*i64 @__wp_wave_shifted\(i32 (?:noundef )?(?:range\([^)]*\) )?(\S+)\)")
_COUNT = re.compile(r"^\s*(%\S+) = .*call .*i32 @__wp_block_(count|arrived)\(\)")

_AREA, _VALUES = "%wp.meeting_area", "%wp.values"
_COUNT_OFFSETS = {"count": COUNT, "arrived": ARRIVED}


def with_wave_values(lines: Iterable[str]) -> list[str]:
    """The lines with calls for results replaced by loads."""
    changed: list[str] = []
    for line in lines:
        if match := _VALUE.match(line):
            changed += _value(match[1], match[2])
        elif match := _SHIFTED.match(line):
            changed += _shifted(match[1], match[2])
        elif match := _ACTIVE.match(line):
            changed += _active(match[1])
        elif match := _COUNT.match(line):
            changed += _count(match[1], _COUNT_OFFSETS[match[2]])
        else:
            changed.append(line)
    return changed


def _value(result: str, lane: str) -> list[str]:
    return [
        f"  {result}.wp.in = and i32 {lane}, 63",
        f"  {result}.wp.lane = zext i32 {result}.wp.in to i64",
        f"  {result}.wp.wave = and i64 %wp.thread, -64",
        f"  {result}.wp.at = or disjoint i64 {result}.wp.wave, {result}.wp.lane",
        f"  {result}.wp.p = getelementptr i64, ptr {_VALUES}, i64 {result}.wp.at",
        f"  {result} = load i64, ptr {result}.wp.p, align 8",
    ]


def _shifted(result: str, lanes: str) -> list[str]:
    return [
        f"  {result}.wp.lanes = sext i32 {lanes} to i64",
        f"  {result}.wp.at = add nsw i64 %wp.thread, {result}.wp.lanes",
        f"  {result}.wp.p = getelementptr i64, ptr {_VALUES}, i64 {result}.wp.at",
        f"  {result} = load i64, ptr {result}.wp.p, align 8",
    ]


def _active(result: str) -> list[str]:
    return [
        f"  {result}.wp.wave = lshr i64 %wp.thread, 6",
        f"  {result}.wp.lanes = getelementptr i8, ptr {_AREA}, i64 {ACTIVE}",
        f"  {result}.wp.p = getelementptr i64, ptr {result}.wp.lanes, i64 {result}.wp.wave",
        f"  {result} = load i64, ptr {result}.wp.p, align 8",
    ]


def _count(result: str, offset: int) -> list[str]:
    return [
        f"  {result}.wp.p = getelementptr i8, ptr {_AREA}, i64 {offset}",
        f"  {result} = load i32, ptr {result}.wp.p, align 4",
    ]
