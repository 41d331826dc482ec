"""What gfx942 has beyond C++: macros, builtins with a value test or a reason, assembly translated or refused."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.build import main
from hipcpu.front import front_end
from hipcpu.front.amd_builtins import TABLE, reasons
from hipcpu.front.amd_source import AmdSource, amd_source
from tests.hipcpu import amd_builtins

_KERNELS = Path(__file__).parent / "kernels"
_BUILTIN = re.compile(r"__builtin_amdgcn_\w+")
# Matrix instructions and conversions of 8-bit floats have a table, headers and tests of their own.
_ELSEWHERE = re.compile(r"_s?mfma|fp8|bf8")

_GFX942 = "amdgcn-amd-amdhsa"
# About long double, caches, the widest integer and what `new` aligns: here they are the host's. In the host's pass,
# clang also defines the name of a processor that has none.
_NOT_AMDS = re.compile(r"__\w*LDBL_|__SIZEOF_LONG_DOUBLE|__GCC_\w+STRUCTIVE|__BITINT_|__STDCPP_DEFAULT_NEW|____\b")


def _build(folder: Path, body: str, before: str = "") -> int:
    (folder / "solution.hip").write_text(
        f"{before}__global__ void k(float* p, int x) {{\n{body}\n}}\nint main() {{}}\n"
    )
    return main([str(folder), "program"])


def _macros(folder: Path, command: list[str]) -> set[str]:
    (folder / "empty.hip").touch()
    dumped = [*command, "-E", "-dM", "empty.hip"]
    done = subprocess.run(dumped, cwd=folder, capture_output=True, text=True, check=True)
    return {line.removeprefix("#define ") for line in done.stdout.splitlines()}


@pytest.mark.parametrize("kernels", [False, True], ids=["host", "kernels"])
def test_both_passes_have_the_macros_that_clang_defines_for_gfx942(kernels: bool, tmp_path: Path) -> None:
    prepared = toolchain.prepared()
    plain = toolchain.compiler().hip(prepared.include, kernels=kernels)
    real = [*plain, "-aux-triple", _GFX942]
    if kernels:
        at = plain.index("-target-cpu")
        real = [*plain[:at], *plain[at + 2 :], "-triple", _GFX942, "-target-cpu", "gfx942"]
    without = _macros(tmp_path, plain)
    amds = {macro for macro in _macros(tmp_path, real) - without if not _NOT_AMDS.match(macro)}
    assert "__AMDGCN__ 1" in amds
    assert ("__gfx942__ 1" in amds) == kernels

    prelude = prepared.prelude(kernels=kernels)
    ours = _macros(tmp_path, [*plain, "-include-pch", str(prelude)])
    assert amds - ours == set()
    assert {macro for macro in ours - amds if re.match(r"__(?:AMD|GFX|gfx|amdgcn)", macro)} == {
        # HIP 6's clang has them, and that of HIP 7.2 no longer.
        "__AMDGCN_WAVEFRONT_SIZE 64",
        "__AMDGCN_WAVEFRONT_SIZE__ 64",
    }


def test_a_builtin_in_a_branch_for_the_mi300x_is_refused_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, "#ifdef __gfx942__\np[0] = __builtin_amdgcn_cubeid(1, 1, 1);\n#endif") == 1
    text = capsys.readouterr().err
    assert text.startswith("solution.hip:3:8: error: use of undeclared identifier '__builtin_amdgcn_cubeid'"), text


def test_the_table_lists_what_our_clang_has_for_gfx942() -> None:
    assert amd_builtins.table() == TABLE.read_text("utf-8")


def test_every_builtin_of_gfx942_has_a_value_test_or_a_reason() -> None:
    tested = {name for path in _KERNELS.glob("amd_*.hip") for name in _BUILTIN.findall(path.read_text("utf-8"))}
    known = {name: reason for name, reason in reasons().items() if not _ELSEWHERE.search(name)}
    assert [name for name, reason in known.items() if not reason and name not in tested] == []
    assert [name for name in tested if known.get(name, "not a builtin of gfx942")] == []


def test_a_builtin_that_is_missing_is_refused_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, "p[0] = __builtin_amdgcn_cubeid(1, 1, 1);") == 1
    assert (
        "__builtin_amdgcn_cubeid: for cube maps and interpolation, which only graphics has" in capsys.readouterr().err
    )

    assert _build(tmp_path, "p[0] = __builtin_amdgcn_ballot_w32(true);") == 1
    assert "__builtin_amdgcn_ballot_w32: clang has no such builtin for gfx942" in capsys.readouterr().err


def test_a_wrong_use_of_a_builtin_has_no_word_of_a_missing_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, "p[0] = __builtin_amdgcn_rcpf();") == 1
    assert "note: __builtin" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("p[0] = __builtin_amdgcn_s_getreg(7 | 31 << 11);", "only MODE (1), HW_ID (4) and XCC_ID (20) are on"),
        (
            "__shared__ float s[64]; __builtin_amdgcn_global_load_lds(p, s, 16, 0, 0);",
            "gfx942 loads 1, 2 or 4 bytes a lane to shared memory",
        ),
    ],
)
def test_an_argument_that_cannot_be_is_refused(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, body) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ('asm volatile("v_mov_b32 v0, 1");', 2, "it names the register v0: give it an operand, %0 with a variable"),
        (
            '\n\nasm volatile("s_nop 0\\n"\n "s_branch 4");',
            4,
            "`s_branch 4`: the cpu device cannot run this instruction: write the branch or the loop in C++",
        ),
        ('asm("image_load %0, %1" : "=v"(x) : "v"(x));', 2, "the MI300X has no textures"),
        ('asm("v_mqsad_u32_u8 %0, %1, %2, %0" : "+v"(x) : "v"(x), "v"(x));', 2, "write it as C++, or call its builtin"),
        (
            'asm("v_add_f32 %0, %1, %2 clamp" : "=v"(p[0]) : "v"(p[1]), "v"(p[2]));',
            2,
            "the modifier `clamp` is not known here",
        ),
        ('asm("v_add_f32 %0, %1, %7" : "=v"(p[0]) : "v"(p[1]));', 2, "there is no operand %7"),
        (
            'asm("buffer_load_dwordx4 %0, %0, 0 offen lds" :: "v"(x));',
            2,
            "gfx942 loads 4 bytes a lane to shared memory",
        ),
        ('asm("ds_read_b32 %0, %1 offset:x" : "=v"(x) : "v"(x));', 2, "`offset:x` is not a number"),
        ('asm("s_getreg_b32 %0, hwreg(HW_REG_STATUS)" : "=s"(x));', 2, "only HW_REG_MODE, HW_REG_HW_ID, HW_REG_XCC_ID"),
        (
            'asm("v_cvt_f32_fp8 %0, %1 src0_sel:WORD_1" : "=v"(p[0]) : "v"(x));',
            2,
            "`src0_sel:WORD_1` is not valid; choose BYTE_0, BYTE_1, BYTE_2, BYTE_3",
        ),
        (
            'asm("v_cvt_pk_fp8_f32 %0, %1, %1 op_sel:[1,0,0]" : "+v"(x) : "v"(p[0]));',
            2,
            "`op_sel:[1,0,0]` is not valid; choose [0,0,0], [0,0,1]",
        ),
        ('asm("v_cndmask_b32 %0, %1, %1, vcc" : "=v"(x) : "v"(x));', 2, "it names the register vcc"),
    ],
)
def test_assembly_that_cannot_run_is_refused_with_its_line_and_what_to_write(
    body: str, line: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, body) == 1
    text = capsys.readouterr().err
    assert said in text
    assert text.startswith(f"solution.hip:{line}:"), text
    assert text.count("error:") == 1


def test_assembly_that_no_kernel_reaches_refuses_nothing(tmp_path: Path) -> None:
    refused = 'asm volatile("v_permlane32_swap_b32 v0, v1");'
    elsewhere = f"template <class T> __device__ void a(T) {{ {refused} }}\n__device__ void b() {{ {refused} }}\n"
    body = f'#ifdef __gfx950__\n{refused}\n#endif\nif constexpr (sizeof(x) == 8) {{ {refused} }}\nasm("s_nop 0");'
    assert _build(tmp_path, body, elsewhere) == 0


def test_an_error_beside_assembly_has_the_source_s_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = 'asm volatile("s_nop 0\\n"\n"s_waitcnt vmcnt(0)"\n::: "memory");\np[0] = undeclared;'
    assert _build(tmp_path, body) == 1
    assert capsys.readouterr().err.startswith("solution.hip:5:8: error: use of undeclared identifier 'undeclared'")


def test_an_intrinsic_without_a_function_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    label = 'extern "C" __device__ int hash(int) __asm("llvm.amdgcn.no.such.thing");\n'
    assert _build(tmp_path, "p[0] = hash(x);", f"\n{label}") == 1
    text = capsys.readouterr().err
    assert text.startswith("solution.hip:2:44: error: the cpu device has no intrinsic `llvm.amdgcn.no.such.thing`"), (
        text
    )

    # A matrix instruction that gfx942 has no longer.
    gone = '__device__ float gone(float, float, float, int, int, int) __asm("llvm.amdgcn.mfma.f32.4x4x2bf16");\n'
    assert _build(tmp_path, "p[0] = gone(1, 1, 1, 0, 0, 0);", gone) == 1
    assert "the cpu device has no intrinsic `llvm.amdgcn.mfma.f32.4x4x2bf16`" in capsys.readouterr().err


def test_functions_may_take_the_result_of_a_matrix_instruction(tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text(
        "typedef float Floats __attribute__((ext_vector_type(16)));\n"
        "__device__ Floats twice(Floats x) { return x + x; }\n"
        "__global__ void k(Floats* p) { *p = twice(*p); }\n"
    )
    assert front_end.parse(tmp_path, "solution.hip").messages == ""


_PRODUCT = '__device__ double product(double, double, double, int, int, int) __asm("llvm.amdgcn.mfma.f64.4x4x4f64");\n'
_SPARSE = (
    "typedef _Float16 h4 __attribute__((ext_vector_type(4)));\n"
    "typedef _Float16 h8 __attribute__((ext_vector_type(8)));\n"
    "typedef float f4 __attribute__((ext_vector_type(4)));\n"
    '__device__ f4 sparse(h4, h8, f4, int, int, int) __asm("llvm.amdgcn.smfmac.f32.16x16x32.f16");\n'
)
_WRAPPED = (
    "__device__ double wrapped(int cbsz) {{ return product(1, 1, 1,\n cbsz, 0, 0); }}\n"
    "__global__ void k(double* p, int n) {{ p[0] = wrapped(2); }}"
)
_MODIFIERS = "mfma_f64_4x4x4f64 of gfx942 has no such cbsz, abid or blgp; they must be constants"


@pytest.mark.parametrize(
    ("declared", "kernel", "said"),
    [
        (
            _PRODUCT,
            "__global__ void k(double* p, int n) {{\n p[0] = product(1, 1, 1, 1, 0, 0); }}",
            f"3:1: error: {_MODIFIERS}",
        ),
        (
            _PRODUCT,
            _WRAPPED,
            f"2:1: error: {_MODIFIERS}",
        ),
        (
            _PRODUCT,
            "__global__ void k(double* p, int n) {{ p[0] = product(1, 1, 1, 0, 0, n); }}",
            f"2:1: error: {_MODIFIERS}",
        ),
        (
            _SPARSE,
            "__global__ void k(f4* p, int n) {{ p[0] = sparse({{}}, {{}}, p[0], n, 0, 4); }}",
            "5:1: error: smfmac_f32_16x16x32_f16 of gfx942 has no such cbsz or abid; they must be constants",
        ),
    ],
)
def test_modifiers_of_a_matrix_intrinsic_that_gfx942_has_not_are_refused_with_their_line(
    declared: str, kernel: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "solution.hip").write_text(f"{declared}{kernel.format()}\nint main() {{}}\n")
    assert main([str(tmp_path), "program"]) == 1
    assert capsys.readouterr().err.startswith(f"solution.hip:{said}")


def test_modifiers_that_are_known_after_inlining_are_taken(tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text(
        f"{_PRODUCT}template <int N> __device__ double wrapped(int blgp) {{ return product(1, 1, 1, N, 0, blgp); }}\n"
        "__global__ void k(double* p) { p[0] = wrapped<0>(5); }\nint main() {}\n"
    )
    assert main([str(tmp_path), "program"]) == 0


def test_has_builtin_answers_for_the_mi300x(tmp_path: Path) -> None:
    asked = "!__has_builtin(__builtin_amdgcn_rcpf) || __has_builtin( __builtin_amdgcn_ballot_w32 )"
    assert _build(tmp_path, f"#if {asked}\n#error wrong\n#endif") == 0


def test_a_source_is_translated_before_either_side_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translated: list[str] = []

    def noted(text: str) -> AmdSource | None:
        translated.append(text)
        return amd_source(text)

    monkeypatch.setattr(front_end, "amd_source", noted)
    (tmp_path / "solution.hip").write_text('__global__ void k() { asm volatile("s_nop 0"); }\nint main() {}\n')
    parsed = front_end.parse(tmp_path, "solution.hip")
    assert (parsed.messages, len(translated)) == ("", 1)


def test_lines_stay_lines_and_other_assembly_stays_as_it_is() -> None:
    others = 'asm("rdtsc" : "=a"(x));\nint f() asm("name");\n// asm("s_nop 0")\n'
    text = '#define W \\\n asm("s_nop 0\\n" \\\n "s_nop 1")\n' + others
    found = amd_source(text)
    assert found is not None
    assert found.text.splitlines()[:2] == ["#define W \\", " ((void)0)\\"]
    assert found.text.splitlines()[3:] == text.splitlines()[3:]
    assert amd_source('int f() asm("name"); const char* s = "asm(\\"s_nop 0\\")";') is None
    assert amd_source("int plain;") is None
