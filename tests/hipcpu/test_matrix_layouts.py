"""The layouts that the tests compute with are those of AMD's matrix instruction calculator."""

from __future__ import annotations

import re

import pytest

from tests.hipcpu.matrix_reference import INSTRUCTIONS, TYPES, Instruction, Modifiers

_FIGURE = re.compile(
    r"(?P<matrix>[ABDK])\[(?P<i>\d+)\]\[(?P<j>\d+)\](?:\.B(?P<block>\d+))? "
    r"v\[?(?:\d+:)?(?P<word>\d+)\]?(?:\.\[\d+:(?P<bit>\d+)\])?\{(?P<lane>\d+)\}(?P<modifiers>.*)"
)


def _where(one: Instruction, matrix: str, place: tuple[int, int, int], how: Modifiers) -> tuple[int, int, int]:
    """Return word, bit and lane of an element."""
    first, second, block = place
    if matrix == "K":
        stored = second // 2 // 2 * 2
        return 0, one.index_bits(stored, how), one.a_place(first, stored, block, how)[0]
    if matrix == "D":
        (lane, at), kind = one.d_place(first, second, block), one.d
    elif matrix == "A":
        stored = second // 2 // 2 * 2 if one.sparse else second
        (lane, at), kind = one.a_place(first, stored, block, how), one.a
    else:
        (lane, at), kind = one.b_place(first, second, block, how), one.b
    bits = at * TYPES[kind].itemsize * 8
    return bits // 32, bits % 32, lane


@pytest.mark.parametrize("one", INSTRUCTIONS, ids=lambda one: one.builtin)
def test_elements_lie_where_the_calculator_says(one: Instruction) -> None:
    assert one.figures
    for figure in one.figures:
        found = _FIGURE.fullmatch(figure)
        assert found, figure
        modifiers = dict(each.split("=") for each in found["modifiers"].split())
        how = Modifiers(**{name: int(value) for name, value in modifiers.items()})
        place = int(found["i"]), int(found["j"]), int(found["block"] or 0)
        where = _where(one, found["matrix"], place, how)
        assert where == (int(found["word"]), int(found["bit"] or 0), int(found["lane"])), figure
