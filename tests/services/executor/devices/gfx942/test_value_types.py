from __future__ import annotations

import pytest

from services.executor.devices.gfx942.polynomial import Polynomial
from services.executor.devices.gfx942.value_types import offset_of, size_of, split


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("float", 4),
        ("bfloat", 2),
        ("i1", 1),
        ("i64", 8),
        ("ptr", 8),
        ("ptr addrspace(3)", 4),
        ("[65 x float]", 260),
        ("[4 x [8 x half]]", 64),
        ("<4 x float>", 16),
        ("<3 x float>", 16),
        ("{ float, float, float, float }", 16),
        ("{ i8, double, i8 }", 24),
        ("<{ i8, double, i8 }>", 10),
        ("%struct.unknown", None),
        ("i24", None),
    ],
)
def test_sizes_are_those_of_amds_data_layout(text: str, size: int | None) -> None:
    assert size_of(text) == size


def _value(text: str) -> Polynomial:
    return Polynomial.constant(int(text)) if text.isdigit() else Polynomial.unknown(text)


def test_an_index_counts_elements_and_those_after_it_step_into_arrays() -> None:
    text = "inbounds nuw [65 x float], ptr addrspace(3) @tile, i32 %i, i32 7"
    assert offset_of(text, _value) == Polynomial({("%i",): 260, (): 28})


def test_a_step_into_a_structure_is_not_guessed() -> None:
    assert offset_of("{ i8, float }, ptr %p, i64 0, i32 1", _value) is None


def test_commas_in_brackets_part_nothing() -> None:
    assert split("{ i8, float }, ptr %p, [2 x i32] %a") == ["{ i8, float }", "ptr %p", "[2 x i32] %a"]
