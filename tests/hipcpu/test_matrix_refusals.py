"""Matrix instructions that gfx942 cannot execute are refused: at compile time, or when lanes are missing."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from hipcpu import build as builder
from hipcpu import toolchain
from hipcpu.build import build
from hipcpu.build_folder import BuildKind
from tests.hipcpu.matrix_program import CASES, kernels

_STOPPED = 86
_MFMA = "__builtin_amdgcn_mfma_f32_4x4x1f32"
_VECTORS = (
    "typedef float v4 __attribute__((ext_vector_type(4)));\ntypedef short s4 __attribute__((ext_vector_type(4)));\n"
)
_MATRIX_WORDS = ("v_mfma_", "v_smfmac_")
_DEVICE_WORDS = """
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define memcpy __builtin_memcpy
struct Index { unsigned x; };
#define threadIdx Index{__builtin_amdgcn_workitem_id_x()}
"""
_MAIN = """
int main() {
    v4* p;
    hipMalloc(&p, 64 << 10);
    hipMemset(p, 0, 64 << 10);
    k<<<1, THREADS>>>(p);
    return hipDeviceSynchronize();
}
"""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (f"{_MFMA}(1, 1, *p, n, 0, 0)", "argument 'cbsz' of a matrix instruction must be a constant integer"),
        (f"{_MFMA}(1, 1, *p, 0, n, 0)", "argument 'abid' of a matrix instruction must be a constant integer"),
        (f"{_MFMA}(1, 1, *p, 5, 0, 0)", "1 << cbsz must be at most 16, its blocks"),
        (f"{_MFMA}(1, 1, *p, -1, 0, 0)", "1 << cbsz must be at most 16, its blocks"),
        (f"{_MFMA}(1, 1, *p, 2, 4, 0)", "abid must be less than 1 << cbsz"),
        (f"{_MFMA}(1, 1, *p, 0, 0, 8)", "blgp must be 0 to 7"),
        ("__builtin_amdgcn_mfma_f32_16x16x4f32(1, 1, *p, 1, 0, 0)", "this instruction of gfx942 has no cbsz"),
        ("__builtin_amdgcn_mfma_f32_16x16x16f16({}, {}, *p, 0, 0, 1)", "this instruction of gfx942 has no blgp"),
        ("__builtin_amdgcn_mfma_f64_4x4x4f64(1, 1, 1, 0, 0, 8)", "blgp must be 0 to 7"),
        ("__builtin_amdgcn_smfmac_f32_16x16x32_f16({}, {}, *p, n, 0, 4)", "abid must name one of the index's sets"),
        ("__builtin_amdgcn_smfmac_f32_16x16x64_fp8_fp8({}, {}, *p, n, 0, 2)", "abid must name one of the index's sets"),
        ("__builtin_amdgcn_smfmac_f32_16x16x32_f16({}, {}, *p, n, 4, 0)", "cbsz must be 0 to 3"),
        (
            "__builtin_amdgcn_mfma_f32_16x16x8bf16(s2{}, s2{}, *p, 0, 0, 0)",
            "gfx942 has no such instruction: use __builtin_amdgcn_mfma_f32_16x16x16bf16_1k",
        ),
        (
            "__builtin_amdgcn_mfma_i32_16x16x16i8(1, 1, *p, 0, 0, 0)",
            "gfx942 has no such instruction: use __builtin_amdgcn_mfma_i32_16x16x32_i8",
        ),
        ("__builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(1, 1, *p, 0, 0, 0)", "clang has no such builtin for gfx942"),
        ("__builtin_amdgcn_cvt_f32_fp8(n, 4)", "argument 'byte' must be 0 to 3"),
        ("__builtin_amdgcn_cvt_pk_fp8_f32(1, 1, 0, n)", "argument 'upper' must be a constant integer"),
    ],
)
def test_no_instruction_of_gfx942_is_a_compile_error(
    call: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = "typedef short s2 __attribute__((ext_vector_type(2)));\n"
    body = f"__global__ void k(v4* p, int n) {{ auto d = {call}; (void)d; }}\nint main() {{}}\n"
    (tmp_path / "solution.hip").write_text(_VECTORS + two + body)

    assert builder.main([str(tmp_path), "program"]) == 1

    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("body", "threads", "said"),
    [
        (
            f"if (threadIdx.x < 40)\n *p = {_MFMA}(1, 1, *p, 0, 0, 0);\n else __syncthreads();",
            64,
            "thread (0, 0, 0) waits at line 5 while thread (40, 0, 0) waits at line 6",
        ),
        (
            f"if (threadIdx.x % 2) return;\n p[threadIdx.x] = {_MFMA}(1, 1, *p, 0, 0, 0);",
            128,
            "thread (0, 0, 0) waits at line 5 while thread (1, 0, 0) has ended",
        ),
        (
            f"\n p[threadIdx.x] = {_MFMA}(1, 1, *p, 0, 0, 0);",
            96,
            "thread (64, 0, 0) waits at line 5 while the block has no lane 32 of its last wavefront",
        ),
        (
            f"if (threadIdx.x < 9)\n *p = {_MFMA}(1, 1, *p, 0, 0, 0);\n else p[1] = {_MFMA}(2, 1, *p, 0, 0, 0);",
            64,
            "thread (0, 0, 0) waits at line 5 while thread (9, 0, 0) waits at line 6",
        ),
    ],
)
def test_instruction_without_all_lanes_ends_the_process(body: str, threads: int, said: str, tmp_path: Path) -> None:
    source = f"{_VECTORS}__global__ void k(v4* p) {{\n {body}\n}}{_MAIN.replace('THREADS', str(threads))}"
    (tmp_path / "solution.hip").write_text(source)
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == _STOPPED
    assert "matrix instruction without all 64 lanes of its wavefront in kernel k" in done.stderr
    assert said in done.stderr


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (
            "__wp_matrix_set(1 << 30, 7); __wp_matrix_set(-1, 7); p[0][0] = __wp_matrix_get(-7);",
            0,
        ),
        ("__wp_matrix_barrier(0, 0, 1);", 0),
        ("__wp_matrix_barrier(0, 1, 1);", -signal.SIGABRT),
        ("__wp_matrix_barrier(200, -1, 1);", -signal.SIGABRT),
        ("__wp_matrix_barrier(1, -1, 1);", 0),
        ("__wp_matrix_barrier(threadIdx.x < 64 ? 3 + int(p[0][0]) : 0, int(p[1][0]), 1);", 0),
    ],
)
def test_no_number_that_a_kernel_passes_leaves_the_registers(body: str, status: int, tmp_path: Path) -> None:
    source = f"{_VECTORS}__global__ void k(v4* p) {{ {body} }}{_MAIN.replace('THREADS', '64')}"
    (tmp_path / "solution.hip").write_text(source)
    build(tmp_path, BuildKind.PROGRAM)

    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == status


def test_clang_selects_an_instruction_of_gfx942_for_every_call(tmp_path: Path) -> None:
    (tmp_path / "kernels.hip").write_text(_DEVICE_WORDS + kernels(CASES).partition("\n")[2])
    command = [toolchain.compiler().program, "clang", "-cc1", "-triple", "amdgcn-amd-amdhsa", "-target-cpu", "gfx942"]
    command += ["-x", "hip", "-std=c++20", "-fcuda-is-device", "-aux-triple", toolchain.TRIPLE, "-O1", "-S"]

    done = subprocess.run(
        [*command, "kernels.hip", "-o", "-"], cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False
    )

    assert done.stderr == ""
    selected = [
        word for line in done.stdout.splitlines() for word in line.split()[:1] if word.startswith(_MATRIX_WORDS)
    ]
    assert selected == [case.one.mnemonic for case in CASES]
