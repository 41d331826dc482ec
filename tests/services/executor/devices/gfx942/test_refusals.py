"""AMD's compiler has the last word: what HIP's real headers refuse is said with its line and the release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.executor.devices.gfx942.refusals import Refusal, refusals, sentence_of
from services.executor.devices.gfx942.report import begins_with_runtime

REFUSED = Path(__file__).parent / "refused"
HEADER = "#include <hip/hip_runtime.h>\n"


@pytest.mark.parametrize(
    ("name", "release", "words"),
    [
        ("half_times_float", "6", "line 6: use of overloaded operator '*' is ambiguous"),
        ("half_times_float", "7", "line 6: use of overloaded operator '*' is ambiguous"),
        ("bf16_times_float", "6", "line 6: use of overloaded operator '*' is ambiguous"),
        ("bf16_times_float", "7", "line 6: use of overloaded operator '*' is ambiguous"),
        ("ocp_fp8_in_kernel", "6", "line 7: reference to __host__ function 'operator float'"),
        ("ocp_fp8_in_kernel", "7", "line 7: reference to __host__ function 'operator float'"),
        ("atomic_half2", "6", "line 9: no matching function for call to 'atomicAdd'"),
        ("atomic_half2", "7", "line 9: no matching function for call to 'atomicAdd'"),
        ("bf16_data", "6", "line 6: no member named 'data' in '__hip_bfloat16'"),
        ("bf16_data", "7", "line 6: no member named 'data' in '__hip_bfloat16'"),
        ("sync_mask_of_32_bits", "6", "line 8: static assertion failed"),
        ("sync_mask_of_32_bits", "7", "line 8: static assertion failed"),
        ("warp_size_as_constant", "6", ""),
        ("warp_size_as_constant", "7", "line 7: variable length array declaration"),
        ("float4_data", "6", ""),
        ("float4_data", "7", "line 7: no member named 'data' in 'HIP_vector_type<float, 4>'"),
        ("wavefront_size_macro", "6", ""),
        ("wavefront_size_macro", "7", "line 4: use of undeclared identifier '__AMDGCN_WAVEFRONT_SIZE'"),
    ],
)
def test_each_release_refuses_what_it_refuses(
    report_on: Callable[..., dict[str, Any]], name: str, release: str, words: str
) -> None:
    found = report_on((REFUSED / f"{name}.hip").read_text(), release)

    assert f"HIP {release}." in found["toolchain"]
    if not words:
        assert (found["refused"], found["kernel_count"]) == ("", 1)
        return
    assert found["refused"].startswith(f"AMD's compiler refuses this: {words}")
    assert f"(HIP {release}." in found["refused"]


def test_the_other_release_is_asked_about_what_one_refuses(report_on: Callable[..., dict[str, Any]]) -> None:
    only_7 = report_on((REFUSED / "warp_size_as_constant.hip").read_text(), "7")["refused"]
    both = report_on((REFUSED / "half_times_float.hip").read_text(), "7")["refused"]

    assert "HIP 6.4 accepts it" in only_7
    assert "HIP 6.4 refuses it too" in both


@pytest.mark.parametrize(
    "include", ["hip/amd_detail/amd_hip_fp8.h", "hipcub/hipcub.hpp", "rocprim/rocprim.hpp", "thrust/device_ptr.h"]
)
def test_headers_that_rocm_ships_are_there(report_on: Callable[..., dict[str, Any]], include: str) -> None:
    found = report_on(f"{HEADER}#include <{include}>\n__global__ void k(float* p) {{ p[0] = 1; }}\n")

    assert (found["note"], found["kernel_count"]) == ("", 1)


def test_cub_s_names_are_those_of_rocm_s_hipcub(report_on: Callable[..., dict[str, Any]]) -> None:
    kernel = "__global__ void k(float* p) { __shared__ cub::WarpReduce<float>::TempStorage s; p[0] = sizeof(s); }\n"

    found = report_on(f"#include <cub/cub.cuh>\n{kernel}")

    assert (found["note"], found["refused"], found["kernel_count"]) == ("", "", 1)


def test_rocwmma_is_never_refused_for_want_of_its_headers(report_on: Callable[..., dict[str, Any]]) -> None:
    # Only ROCm's own package has all of them.
    found = report_on((REFUSED.parent / "rocwmma.hip").read_text())

    lacks = "There is no report for gfx942: this machine lacks the header `"
    assert (found["refused"], found["note"].startswith(lacks) or found["kernel_count"] == 1) == ("", True)


def test_a_header_that_this_machine_lacks_is_no_refusal(report_on: Callable[..., dict[str, Any]]) -> None:
    found = report_on(f"{HEADER}#include <torch/extension.h>\n__global__ void k(float* p) {{ p[0] = 1; }}\n")

    assert found["refused"] == ""
    assert "this machine lacks the header `torch/extension.h` (line 2)" in found["note"]


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("__shared__ float t[20000]; t[threadIdx.x] = p[0]; __syncthreads(); p[1] = t[int(p[2])]", "exceeds limit"),
        ('asm volatile("v_nonsense v0, v1")', "invalid instruction"),
    ],
)
def test_what_the_back_end_refuses_is_a_refusal(
    report_on: Callable[..., dict[str, Any]], statement: str, complaint: str
) -> None:
    found = report_on(f"{HEADER}__global__ void k(float* p) {{ {statement}; }}")

    assert found["refused"].startswith("AMD's compiler refuses this")
    assert complaint in found["refused"]


def test_a_macro_before_the_header_decides_what_it_declares(report_on: Callable[..., dict[str, Any]]) -> None:
    """HIP's headers leave vectors' operators out if this macro is defined, as precompiled ones would not."""
    source = f"#define __HIP_NO_HALF_OPERATORS__ 1\n{HEADER}#include <hip/hip_fp16.h>\n"

    found = report_on(f"{source}__global__ void k(__half* p) {{ p[0] = p[1] + p[2]; }}\n")

    assert "invalid operands" in found["refused"]


@pytest.mark.parametrize(
    ("source", "may_be"),
    [
        (HEADER, True),
        (f"// #define A\n/* #define B */\n#pragma once\n#include <cstdio>\n{HEADER}", True),
        (f"#define A\n{HEADER}", False),
        (f'#include "own.h"\n{HEADER}', False),
        ("__global__ void k() {}", False),
    ],
)
def test_only_an_undisturbed_header_may_be_precompiled(source: str, may_be: bool) -> None:
    assert begins_with_runtime(source) is may_be


def test_the_line_is_the_source_s_own_if_a_header_has_the_error() -> None:
    messages = """In file included from solution.hip:1:
In file included from hip/hip_runtime.h:5:
hip/detail.h:297:62: error: static assertion failed: The mask must be a 64-bit integer
  297 |     static_assert(sizeof(Mask) == 8);
solution.hip:9:39: note: in instantiation of function template specialization 'f<int>' requested here
solution.hip:12:1: error: another
In file included from solution.hip:3:
other.h:2:1: error: of a header
"""

    assert refusals(messages, "solution.hip") == [
        Refusal(9, "static assertion failed: The mask must be a 64-bit integer"),
        Refusal(12, "another"),
        Refusal(3, "of a header", "other.h"),
    ]


def test_an_error_in_a_header_alone_is_this_machine_s() -> None:
    assert Refusal(3, "no type named 'x'", "other.h").doubt == (
        "this machine cannot read the header `other.h` (line 3): no type named 'x'"
    )
    assert Refusal(3, "'other.h' file not found").doubt == "this machine lacks the header `other.h` (line 3)"
    assert Refusal(3, "no type named 'x'").doubt == ""


def test_many_refusals_are_cut_and_long_ones_too() -> None:
    text = sentence_of([Refusal(line, "e" * 1000) for line in range(1, 9)], "HIP 7.2", [])

    assert len(text) < 1100
    assert "and 5 more (HIP 7.2)" in text
