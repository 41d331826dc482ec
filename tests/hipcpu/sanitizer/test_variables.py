from __future__ import annotations

import pytest

from hipcpu.ir.module import Module
from hipcpu.modules import back_end
from hipcpu.sanitizer.variables import source_name, with_guarded_variables

MODULE = """
@_ZZ1kPKfPfiE4tile = internal thread_local(localexec) global [64 x float] undef, align 16
@taps = internal externally_initialized global [2 x float] [float 1.0, float 2.0], align 4
@text = internal global [3 x i8] c"a]\\00"
@table = internal constant [2 x i32] [i32 1, i32 2]
@__wp_dynamic_shared = internal thread_local(localexec) global [65536 x i8] undef, align 256
"""


def test_variables_have_a_guard_zone_and_are_reported() -> None:
    text = with_guarded_variables(Module.from_text(MODULE)).text
    back_end.initialise()
    back_end.parse(text)
    assert "{ [64 x float], [64 x i8] } { [64 x float] undef, [64 x i8] undef }, align 16" in text
    assert "{ [2 x float], [64 x i8] } { [2 x float] [float 1.0, float 2.0], [64 x i8] zeroinitializer }" in text
    assert text.count("call void %take(") == 3


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("@_ZZ1kPKfPfiE4tile", "tile"),
        ("@_ZZ4scanILi160EEvPfE4tile", "tile"),
        ("@_ZZ1kvE1s_0", "s"),
        ("@taps", "taps"),
        ('@"odd name"', "odd name"),
    ],
)
def test_a_variable_is_called_as_in_the_source(symbol: str, name: str) -> None:
    assert source_name(symbol) == name
