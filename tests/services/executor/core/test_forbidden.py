from __future__ import annotations

import _ctypes
import sys
from pathlib import Path

import pytest

from services.executor.core.cpp_tokens import words
from services.executor.core.failure import Failure
from services.executor.core.forbidden import (
    ForbiddenRulesError,
    check_build,
    check_source,
    needed_libraries,
    rules,
    rules_for,
)
from services.executor.core.linked_symbols import linked_symbols
from services.executor.core.verdict import Verdict

REPOSITORY = Path(__file__).parents[4]
EVERYWHERE = rules_for(rules(), ())
SORTING = rules_for(rules(), ("sorting",))


@pytest.mark.parametrize(
    ("source", "rule", "said"),
    [
        ("int x;\nrocblas_sgemm(h, 1);", "vendor-blas", "line 2: `rocblas_sgemm`"),
        ("#include <rocblas/rocblas.h>", "vendor-blas", "#include <rocblas/rocblas.h>"),
        ("#include <hipblas/hipblas.h>", "vendor-blas", "hipblas"),
        ("cublasSgemm(h);", "vendor-blas", "cublasSgemm"),
        ("#define GEMM roc##blas_sgemm", "vendor-blas", "rocblas_sgemm"),
        ("#include <miopen/miopen.h>", "vendor-kernels", "miopen"),
        ("using namespace ck::tensor;", "vendor-kernels", "ck::tensor"),
        ("cutlass::gemm::device::Gemm g;", "vendor-kernels", "cutlass"),
        ('auto p = dlopen("librocblas.so", 1);', "dynamic-loading", "dlopen"),
        ("hipModuleLoadData(&m, bytes);", "dynamic-loading", "hipModuleLoadData"),
    ],
)
def test_what_is_forbidden_everywhere_is_named_with_its_line_and_reason(source: str, rule: str, said: str) -> None:
    with pytest.raises(Failure) as caught:
        check_source(source, EVERYWHERE)
    assert caught.value.verdict is Verdict.FORBIDDEN_LIBRARY
    assert caught.value.reason == rule
    assert said in caught.value.message
    assert "is not allowed: " in caught.value.message


@pytest.mark.parametrize(
    "source",
    [
        "// faster than rocblas_sgemm",
        "/* cublasSgemm does this in 3 ms */",
        'printf("rocblas_sgemm");',
        "struct my_rocblas_like {}; int hipblas_free_version;",
        "int check = 1; float ck = 2; void lock();",
        "#include <hip/hip_runtime.h>\n#include <algorithm>\nvoid f() { std::sort(a, b); }",
    ],
)
def test_what_only_looks_like_it_is_allowed(source: str) -> None:
    check_source(source, EVERYWHERE)


@pytest.mark.parametrize(
    "source", ["std::sort(a, b);", "thrust::stable_sort(a, b);", "hipcub::DeviceRadixSort::SortKeys(x);", "qsort(a);"]
)
def test_finished_sorts_are_forbidden_where_a_problem_says_so(source: str) -> None:
    with pytest.raises(Failure, match="finished sort"):
        check_source(source, SORTING)


@pytest.mark.parametrize(
    "source", ["__global__ void sort(int* a); bitonic_sort<<<1, 2>>>(a);", "x.sort();", "std::swap(a, b);"]
)
def test_sorts_of_ones_own_are_allowed(source: str) -> None:
    check_source(source, SORTING)


def test_no_source_of_ours_is_refused() -> None:
    sources = list(REPOSITORY.glob("problems/*/*.hip"))
    assert len(sources) >= 32
    for path in sources:
        check_source(path.read_text(), SORTING)


def test_a_build_is_refused_for_a_library_that_it_needs() -> None:
    needed = needed_libraries(Path(sys.executable).resolve().read_bytes())
    assert any(name.startswith("libc.so") for name in needed)
    [blas] = [rule for rule in rules() if rule.name == "vendor-blas"]
    against_libc = type(blas)("c", Verdict.FORBIDDEN_LIBRARY, "it needs C", "Do without.", libraries=("libc.so*",))
    with pytest.raises(Failure, match=r"the build needs `libc\.so"):
        check_build(Path(sys.executable).resolve().read_bytes(), [against_libc])


def test_a_build_is_refused_for_a_function_that_it_calls_under_a_hidden_name() -> None:
    [loading] = [rule for rule in rules() if rule.name == "dynamic-loading"]
    loader = Path(_ctypes.__file__).read_bytes()
    with pytest.raises(Failure, match=r"the build calls `dl\w+`, which is not allowed: it loads code"):
        check_build(loader, [loading])
    assert linked_symbols(loader, ["dlopen", "no_such_function"]) == ("dlopen",)


def test_functions_are_found_by_patterns_of_their_names() -> None:
    loader = Path(_ctypes.__file__).read_bytes()
    assert "dlopen" in linked_symbols(loader, ["dlo*n"])
    assert linked_symbols(loader, ["no_such_*", "dlo*no_such_end"]) == ()


def test_no_string_in_a_build_switches_the_search_off() -> None:
    loader = Path(_ctypes.__file__).read_bytes() + b"\0cudaGetDeviceCount\0"
    assert linked_symbols(loader, ["dlopen"]) == ("dlopen",)


def test_a_device_whose_runtime_loads_its_driver_is_allowed_to() -> None:
    loader = Path(_ctypes.__file__).read_bytes()
    check_build(loader, EVERYWHERE, loads_its_driver=True)


def test_a_name_in_a_string_is_no_call() -> None:
    assert linked_symbols(b"\x7fELF\0dlopen\0", ["dlopen"]) == ()
    text = Path(_ctypes.__file__).read_bytes() + b"\0not_a_symbol_but_a_string\0"
    assert linked_symbols(text, ["not_a_symbol_but_a_string"]) == ()


def test_what_is_no_elf_file_needs_nothing() -> None:
    assert check_build(b"#!/bin/sh\n", EVERYWHERE) == ()
    assert needed_libraries(b"\x7fELF\x02\x01\x01") == ()


def test_an_operator_adds_changes_and_switches_off_rules(tmp_path: Path) -> None:
    file = tmp_path / "forbidden.toml"
    file.write_text(
        "[dynamic-loading]\nenabled = false\n"
        '[vendor-blas]\nnames = ["mkl_*"]\n'
        '[no-asm]\nverdict = "source"\nwhy = "it is assembly"\nfix = "Write C++."\nnames = ["asm", "__asm__"]\n'
    )
    held = rules_for(rules(file), ())
    check_source('dlopen("x", 1); rocblas_sgemm();', held)
    with pytest.raises(Failure, match="mkl_sgemm"):
        check_source("mkl_sgemm();", held)
    with pytest.raises(Failure) as caught:
        check_source('asm volatile("s_nop 0");', held)
    assert (caught.value.verdict, caught.value.message) == (
        Verdict.FORBIDDEN_SOURCE,
        "line 1: `asm` is not allowed: it is assembly. Write C++.",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "TOML"),
        ("a = 1", "`a` must be a table"),
        ("[Bad_Name]\n", "lower-case"),
        ('[x]\nverdict = "library"\nwhat = 1', "unknown"),
        ('[x]\nverdict = "no"', "verdict"),
        ('[x]\nverdict = "library"', "why"),
        ('[x]\nverdict = "library"\nwhy = "a"\nfix = "b"\nnames = "c"', "names"),
    ],
)
def test_rules_that_are_not_well_formed_are_named_with_their_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(ForbiddenRulesError, match=said) as caught:
        rules(file)
    assert str(file) in str(caught.value)


def test_a_great_many_names_are_read() -> None:
    source = " ".join(f"name{number}" for number in range(20_000))
    check_source(source, SORTING)
    assert len(words(source)) == 20_000
