"""Reads the results of a barrier directly from the barrier area instead of by calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hipcpu.forms.barrier_area import ACTIVE, ARRIVED, COUNT
from hipcpu.ir.instruction import Instruction

_AREA, _VALUES = "%wp.barrier_area", "%wp.values"


def with_wave_values(body: Iterable[Instruction]) -> Iterator[Instruction]:
    """Yield the instructions, with calls for results replaced by loads."""
    for one in body:
        written = _WRITTEN.get(one.callee) if one.result else None
        if written is None:
            yield one
        else:
            yield from map(Instruction, written(one.result, *(operand.value for operand in one.operands)))


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


def _count(result: str, offset: int = COUNT) -> list[str]:
    return [
        f"  {result}.wp.p = getelementptr i8, ptr {_AREA}, i64 {offset}",
        f"  {result} = load i32, ptr {result}.wp.p, align 4",
    ]


def _arrived(result: str) -> list[str]:
    return _count(result, ARRIVED)


_WRITTEN: dict[str, Callable[..., list[str]]] = {
    "@__wp_wave_value": _value,
    "@__wp_wave_shifted": _shifted,
    "@__wp_wave_active": _active,
    "@__wp_block_count": _count,
    "@__wp_block_arrived": _arrived,
}
