from __future__ import annotations

import re

from problems.kit.signature import Initial, parse_signature
from services.executor.core.compile.harness import expected_declaration, harness_source

SIGNATURE = "const float* x, half alpha, uint8_t flag, float* y, const int* shape, size_t n"


def test_arrays_are_passed_as_pointers_and_scalars_by_value_in_order() -> None:
    source = harness_source(parse_signature(SIGNATURE, {"y": Initial.POISON}, frozenset({"shape"})))
    call = re.sub(r"\s+", " ", source.partition("  solution(")[2].partition(");")[0])
    assert call.split(", ") == [
        "static_cast<const float*>(arguments[0])",
        "*static_cast<const __half*>(arguments[1])",
        "*static_cast<const uint8_t*>(arguments[2])",
        "static_cast<float*>(arguments[3])",
        "static_cast<const int*>(arguments[4])",
        "*static_cast<const size_t*>(arguments[5])",
    ]
    assert "#include <hip/hip_fp16.h>" in source


def test_the_half_header_is_included_only_where_it_is_needed() -> None:
    assert "fp16" not in harness_source(parse_signature("float* y", {"y": Initial.POISON}, frozenset()))


def test_pointers_to_small_floats_are_untyped_as_people_spell_those_in_many_ways() -> None:
    signature = "const hip_bfloat16* x, float16* y, __hip_fp8_e4m3_fnuz* z"
    source = harness_source(parse_signature(signature, {"y": Initial.POISON, "z": Initial.POISON}, frozenset()))
    assert "void solution(const void* x, void* y, void* z);" in source
    assert "static_cast<const void*>(arguments[0])" in source
    assert "hip_bf16.h" not in source


def test_the_declaration_is_what_an_author_would_write() -> None:
    parameters = parse_signature("const float* x, float* y, size_t n", {"y": Initial.POISON}, frozenset())
    assert expected_declaration(parameters) == 'extern "C" void solution(const float* x, float* y, size_t n)'
