from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hipcpu.toolchain import TRIPLE, compiler
from services.executor.core.compile.cpp_tokens import words
from services.executor.core.compile.forbidden import (
    ForbiddenRulesError,
    check_build,
    check_source,
    needed_libraries,
    rules,
    rules_for,
)
from services.executor.core.compile.object_symbols import object_symbols
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict

REPOSITORY = Path(__file__).parents[5]
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


@pytest.mark.parametrize("header", ["thrust/sort.h", "thrust/copy.h", "rocprim/rocprim.hpp", "hipcub/hipcub.hpp"])
def test_libraries_with_sorts_are_forbidden_with_them(header: str) -> None:
    # Each header of these libraries may bring their sorts in, and an alias of the namespace hides their names.
    with pytest.raises(Failure, match=f"#include <{header}>` is not allowed: it calls a finished sort"):
        check_source(f"#include <{header}>\nnamespace t = thrust;\nvoid f() {{ t::sort(a, b); }}", SORTING)


@pytest.mark.parametrize(
    "source", ["__global__ void sort(int* a); bitonic_sort<<<1, 2>>>(a);", "x.sort();", "std::swap(a, b);"]
)
def test_sorts_of_ones_own_are_allowed(source: str) -> None:
    check_source(source, SORTING)


def test_no_source_of_ours_is_refused() -> None:
    sources = list(REPOSITORY.glob("problems/catalogue/*/*.hip"))
    assert len(sources) >= 32
    for path in sources:
        check_source(path.read_text(), SORTING)


def test_a_build_is_refused_for_a_library_that_it_needs() -> None:
    needed = needed_libraries(Path(sys.executable).resolve().read_bytes())
    assert any(name.startswith("libc.so") for name in needed)
    [blas] = [rule for rule in rules() if rule.name == "vendor-blas"]
    against_libc = type(blas)("c", Verdict.FORBIDDEN_LIBRARY, "it needs C", "Do without.", libraries=("libc.so*",))
    with pytest.raises(Failure, match=r"the build needs `libc\.so"):
        check_build(needed_libraries(Path(sys.executable).resolve().read_bytes()), (), [against_libc])


FAMILIES = {
    "the C library's loader": "dlopen dlmopen dlsym dlvsym dlinfo dl_iterate_phdr __libc_dlopen_mode _dl_sym",
    "HIP's modules": "hipModuleLoad hipModuleLoadData hipModuleLoadDataEx hipModuleLoadFatBinary",
    "HIP's libraries": "hipLibraryLoadData hipLibraryLoadFromFile",
    "HIP's linker": "hipLinkCreate hipLinkAddData hipLinkAddFile hipLinkComplete",
    "HIP's functions by name": "hipGetProcAddress hipGetProcAddress_spt hipGetDriverEntryPoint_spt",
    "HIP's compiler": "hiprtcCreateProgram hiprtcCompileProgram hiprtcLinkCreate",
    "below HIP": "hsa_executable_load_agent_code_object hsa_code_object_reader_create_from_memory amd_comgr_do_action",
    "CUDA's libraries": "cudaLibraryLoadData cudaLibraryLoadFromFile cuLibraryLoadData cuLibraryLoadFromFile",
    "CUDA's modules": "cuModuleLoad cuModuleLoadData cuModuleLoadDataEx cuModuleLoadFatBinary",
    "CUDA's linker": "cuLinkCreate_v2 cuLinkAddData_v2 cuLinkComplete nvJitLinkCreate __nvJitLinkCreate_13_0",
    "CUDA's functions by name": "cudaGetDriverEntryPoint cudaGetDriverEntryPointByVersion cuGetProcAddress_v2",
    "CUDA's tables of functions": "cudaGetExportTable cuGetExportTable",
    "CUDA's compilers": "nvrtcCompileProgram nvPTXCompilerCompile nvvmCompileProgram nvFatbinCreate",
    "host calls of device code": "__ockl_hostcall_preview __ockl_hostcall_internal __ockl_call_host_function",
}


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """Assembles an object file of the host's kind with the compiler of the cpu device, which is on each machine."""
    folder = tmp_path_factory.mktemp("objects")

    command = [compiler().program, "clang", "-cc1as", "-triple", TRIPLE, "-filetype", "obj", "-o", "o.o", "-"]

    def made(assembly: str) -> bytes:
        subprocess.run(command, input=assembly.encode(), cwd=folder, check=True)
        return (folder / "o.o").read_bytes()

    return made


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_of_loaders_is_refused_in_the_source_and_in_the_build(
    family: str, assembled: Callable[[str], bytes]
) -> None:
    for function in FAMILIES[family].split():
        with pytest.raises(Failure, match=f"line 2: `{function}` is not allowed"):
            check_source(f"void f() {{\n  {function}(0); }}", EVERYWHERE)
        hidden = assembled(f"f: call {function}\n")
        with pytest.raises(Failure, match=f"the build calls `{function}`, which is not allowed"):
            check_build((), object_symbols(hidden), EVERYWHERE)


@pytest.mark.parametrize(
    "name", ["hipModuleUnload", "hipLinker", "cuLinkage", "nvrtc", "my_dlopen", "dlopen_count", "hipGetSymbolAddress"]
)
def test_no_name_is_refused_that_only_resembles_a_family(name: str, assembled: Callable[[str], bytes]) -> None:
    check_source(f"int {name};", EVERYWHERE)
    check_build((), object_symbols(assembled(f"f: call {name}\n")), EVERYWHERE)


def test_a_source_that_registers_code_by_itself_is_refused_and_what_its_compiler_registers_is_not() -> None:
    with pytest.raises(Failure, match="line 1: `__hipRegisterFatBinary` is not allowed"):
        check_source("auto handle = __hipRegisterFatBinary(blob);", EVERYWHERE)
    check_build((), ["__hipRegisterFatBinary", "__cudaRegisterFatBinary"], EVERYWHERE)


def test_a_function_that_is_asked_for_in_a_version_of_its_own_is_found(assembled: Callable[[str], bytes]) -> None:
    hidden = assembled(".symver mine, dlopen@GLIBC_2.2.5\nf: call mine\n")
    assert "dlopen" in object_symbols(hidden)


def test_device_code_inside_an_object_of_the_host_is_looked_into(assembled: Callable[[str], bytes]) -> None:
    """hipcc leaves device code as a bundle of ELF files in a section of the host's object."""
    device = assembled("f: call __ockl_call_host_function\n")
    numbers = ",".join(map(str, b"__CLANG_OFFLOAD_BUNDLE__" + device))
    host = assembled(f'.section .hip_fatbin,"a"\n.byte {numbers}\n.text\nsolution: ret\n')
    assert {"__ockl_call_host_function", "solution"} <= set(object_symbols(host))


def test_functions_are_found_by_patterns_of_their_names(assembled: Callable[[str], bytes]) -> None:
    symbols = object_symbols(assembled("f: call _ZNSt3__16__sortIRNS_6__lessIiiEEPiEEvT0_S5_T_\n"))
    with pytest.raises(Failure, match="finished sort"):
        check_build((), symbols, SORTING)
    check_build((), symbols, EVERYWHERE)


def test_a_name_in_a_string_is_no_call(assembled: Callable[[str], bytes]) -> None:
    assert object_symbols(b"\x7fELF\0dlopen\0") == ()
    text = assembled('.data\n.asciz "dlopen"\n.ascii "\\177ELF"\n.text\nf: ret\n')
    assert "dlopen" not in object_symbols(text)
    check_build((), object_symbols(text), EVERYWHERE)


def test_what_is_no_elf_file_needs_nothing() -> None:
    assert object_symbols(b"#!/bin/sh\n") == ()
    assert needed_libraries(b"#!/bin/sh\n") == ()
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
