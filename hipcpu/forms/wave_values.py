"""Uses the barrier area directly instead of by calls: for results of barriers, and for matrix registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hipcpu.forms.barrier_area import ACTIVE, ARRIVED, COUNT, MATRICES, MATRIX_REGISTER, MATRIX_REGISTERS
from hipcpu.ir.instruction import Instruction

MATRIX = "%wp.matrix"
_AREA, _VALUES = "%wp.barrier_area", "%wp.values"
_WAVE_BYTES = MATRIX_REGISTERS * MATRIX_REGISTER


def with_wave_values(label: str, body: Iterable[Instruction]) -> Iterator[Instruction]:
    """Yield the instructions of block `label`, with calls for results replaced by loads, and of setters by stores."""
    for number, one in enumerate(body):
        written = _WRITTEN.get(one.callee)
        if written is None:
            yield one
        else:
            # A setter has no result.
            name = one.result or f"%wp.set.{label[1:]}.{number}"
            yield from map(Instruction, written(name, *(operand.value for operand in one.operands)))


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


def matrix_address() -> list[str]:
    """Return the instructions that find MATRIX, the first matrix register of the thread's lane."""
    return [
        f"  {MATRIX}.wave = lshr i64 %wp.thread, 6",
        f"  {MATRIX}.lane = and i64 %wp.thread, 63",
        f"  {MATRIX}.all = getelementptr i8, ptr {_AREA}, i64 {MATRICES}",
        f"  {MATRIX}.own = getelementptr [{_WAVE_BYTES} x i8], ptr {MATRIX}.all, i64 {MATRIX}.wave",
        f"  {MATRIX} = getelementptr i32, ptr {MATRIX}.own, i64 {MATRIX}.lane",
    ]


def _matrix_register(name: str, number: str) -> list[str]:
    if number.isdigit():
        at = int(number) % MATRIX_REGISTERS * MATRIX_REGISTER
        return [f"  {name}.wp.p = getelementptr i8, ptr {MATRIX}, i64 {at}"]
    return [
        f"  {name}.wp.in = urem i32 {number}, {MATRIX_REGISTERS}",
        f"  {name}.wp.number = zext i32 {name}.wp.in to i64",
        f"  {name}.wp.p = getelementptr [{MATRIX_REGISTER} x i8], ptr {MATRIX}, i64 {name}.wp.number",
    ]


def _matrix_set(name: str, number: str, value: str) -> list[str]:
    return [*_matrix_register(name, number), f"  store i32 {value}, ptr {name}.wp.p, align 4"]


def _matrix_get(result: str, number: str) -> list[str]:
    return [*_matrix_register(result, number), f"  {result} = load i32, ptr {result}.wp.p, align 4"]


_WRITTEN: dict[str, Callable[..., list[str]]] = {
    "@__wp_wave_value": _value,
    "@__wp_wave_shifted": _shifted,
    "@__wp_wave_active": _active,
    "@__wp_block_count": _count,
    "@__wp_block_arrived": _arrived,
    "@__wp_matrix_set": _matrix_set,
    "@__wp_matrix_get": _matrix_get,
}
