from __future__ import annotations

from hipcpu.ir.instruction import Instruction
from services.executor.devices.gfx942.addresses import offset_of
from services.executor.devices.gfx942.polynomial import Polynomial


def _value(text: str) -> Polynomial:
    return Polynomial.constant(int(text)) if text.isdigit() else Polynomial.unknown(text)


def _offset(text: str) -> Polynomial | None:
    return offset_of(Instruction(f"  %p = getelementptr {text}"), _value, {})


def test_an_index_counts_elements_and_those_after_it_step_into_arrays() -> None:
    text = "inbounds nuw [65 x float], ptr addrspace(3) @tile, i32 %i, i32 7"
    assert _offset(text) == Polynomial({("%i",): 260, (): 28})


def test_a_step_into_a_structure_is_not_guessed() -> None:
    assert _offset("{ i8, float }, ptr %p, i64 0, i32 1") is None
