from __future__ import annotations

import pytest

from hipcpu.ir.value_types import size_of


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


def test_a_named_type_is_as_large_as_what_it_consists_of() -> None:
    assert size_of("[3 x %pair]", {"%pair": "{ i8, %inner }", "%inner": "{ double }"}) == 48
