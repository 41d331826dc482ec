"""Reports on real sources, by the real compiler."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.report import report

KERNELS = Path(__file__).parent / "kernels"
PROBLEMS = Path(__file__).parents[5] / "problems" / "catalogue"
HEADER = "#include <hip/hip_runtime.h>\n"


def _hints(report: dict[str, Any], kernel: str) -> list[tuple[str, int]]:
    return [(hint["subject"], hint["line"]) for hint in report["kernels"][kernel]["hints"]]


def _line(words: str) -> int:
    rows = (KERNELS / "flawed.hip").read_text().splitlines()
    return next(number for number, row in enumerate(rows, 1) if words in row)


@pytest.mark.parametrize(
    ("kernel", "subject", "words"),
    [
        ("rows", "uncoalesced", "s += a[row * k + i]"),
        ("aos", "uncoalesced", "a[i * 8].x"),
        ("transpose", "bank-conflict", "= tile[threadIdx.x][threadIdx.y]"),
        ("doubles", "double", "a[i] * 1.1"),
        ("divides", "division", "(i + j) % m"),
        ("local_array", "local-array", "v[j] = a[i + 256 * j]"),
        ("spills", "spills", "v[j] = a[threadIdx.x + 1024 * j]"),
        ("naive_matmul", "no-mfma", "__half2float(a[row * k + i])"),
    ],
)
def test_a_flaw_is_found_at_its_line_and_nothing_else(
    flawed: dict[str, Any], kernel: str, subject: str, words: str
) -> None:
    assert _hints(flawed, kernel) == [(subject, _line(words))]


def test_too_much_lds_is_reported_with_what_to_save(flawed: dict[str, Any]) -> None:
    kernel = flawed["kernels"]["big_lds"]
    assert (kernel["occupancy"], kernel["limited_by"], kernel["block_threads_known"]) == (1, "lds", True)
    assert kernel["next_step_saving"] == 7232
    (hint,) = kernel["hints"]
    assert hint["subject"] == "occupancy"
    assert "7232 bytes of LDS less would let one wavefront more in" in hint["advice"]


def test_every_hint_says_what_why_and_what_to_do(flawed: dict[str, Any]) -> None:
    hints = [hint for kernel in flawed["kernels"].values() for hint in kernel["hints"]]
    assert len(hints) == 9
    assert all(hint["what"] and hint["why"] and hint["advice"] for hint in hints)


def test_matrix_core_instructions_and_assembly_are_accepted(flawed: dict[str, Any]) -> None:
    assert flawed["kernels"]["mfma"]["mfma"] == 16
    assert flawed["kernels"]["assembly"]["hints"] == []


def test_templates_are_named_as_people_know_them(flawed: dict[str, Any]) -> None:
    assert {"typed<float, 3>", "typed<double, 4>"} <= set(flawed["kernels"])


def test_sound_kernels_get_no_hint(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on((KERNELS / "sound.hip").read_text())
    assert len(found["kernels"]) == 12
    assert {name: kernel["hints"] for name, kernel in found["kernels"].items() if kernel["hints"]} == {}


def test_the_listing_shows_instructions_below_their_source_lines(flawed: dict[str, Any]) -> None:
    listing = flawed["listing"]
    matmul = listing[listing.index("_Z4mfma") :]
    line = _line("__builtin_amdgcn_mfma")
    assert re.search(rf"; {line}: .*__builtin_amdgcn_mfma.*\n(?:    .*\n|\.L.*\n)*?    v_mfma_f32_16x16x16_f16", matmul)
    assert not flawed["listing_cut"]


@pytest.mark.parametrize("slug", ["vector-addition", "matrix-multiplication", "softmax", "layer-norm", "conv-2d"])
def test_catalogue_solutions_get_reports(report_on: Callable[[str], dict[str, Any]], slug: str) -> None:
    found = report_on((PROBLEMS / slug / "solution.hip").read_text())
    assert found["kernels"]
    for kernel in found["kernels"].values():
        assert 0 < kernel["vgpr"] <= 128
        assert 1 <= kernel["occupancy"] <= 8
        assert kernel["spills"] == kernel["scratch_bytes"] == 0


def test_figures_agree_with_the_compilers_own(report_on: Callable[[str], dict[str, Any]]) -> None:
    """LLVM writes its occupancy as a comment; without LDS and launch bounds both consider registers alone."""
    from services.executor.devices.gfx942 import code_generator  # noqa: PLC0415  to see what it wrote

    written: list[str] = []
    generate = code_generator.assembly_from_ir
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "services.executor.devices.gfx942.code_generator.assembly_from_ir",
            lambda ir: written.append(generate(ir)) or written[-1],
        )
        found = report_on((KERNELS / "flawed.hip").read_text())
    comments = {
        match[1]: (int(match[2]), int(match[3]))
        for match in re.finditer(
            r"^\t\.set (\S+)\.num_vgpr,(?:.*\n)*?; TotalNumVgprs: (\d+)\n(?:;.*\n)*?; Occupancy: (\d+)",
            written[0],
            re.MULTILINE,
        )
    }
    plain = [kernel for kernel in found["kernels"].values() if not kernel["lds_bytes"]]
    assert len(plain) >= 8
    for kernel in plain:
        registers = kernel["vgpr"] + kernel["agpr"]
        assert (registers, kernel["occupancy"]) == comments[kernel["symbol"]]


def test_a_source_without_kernels_says_so(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on('extern "C" void solution() {}')
    assert found["kernels"] == {}
    assert "no kernel" in found["note"]


def test_a_source_that_does_not_compile_gives_the_first_error(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on(f"{HEADER}__global__ void k(float* p) {{ p[0] = missing; }}")
    assert "line 2: use of undeclared identifier 'missing'" in found["note"]


def test_a_hundred_kernels_from_a_macro_are_all_there(report_on: Callable[[str], dict[str, Any]]) -> None:
    kernels = "\n".join(f"KERNEL({number})" for number in range(100))
    found = report_on(
        f"{HEADER}#define KERNEL(N) __global__ void k##N(float* p) {{ p[threadIdx.x] *= float(N); }}\n{kernels}"
    )
    assert found["kernel_count"] == len(found["kernels"]) == 100
    assert found["kernels"]["k42"]["line"] == 45


def test_huge_names_and_overloads_are_distinguished(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on(
        HEADER
        + "template <class... T> struct many {};\n"
        + "template <class T> __global__ void k(float* p) { p[threadIdx.x] = sizeof(T); }\n"
        + f"template __global__ void k<many<{', '.join(['many<int, float, double>'] * 60)}>>(float*);\n"
        + "__global__ void same(float* p) { p[0] = 1; }\n__global__ void same(int* p) { p[0] = 1; }\n"
    )
    assert len(found["kernels"]) == 3
    assert any(name.startswith("same [_Z4same") for name in found["kernels"])


def test_dynamic_shared_memory_is_marked(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on(
        f"{HEADER}extern __shared__ float s[];\n"
        "__global__ void with(float* p) { s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[1]; }\n"
        "__global__ void without(float* p) { p[0] = 1; }"
    )
    assert [found["kernels"][name]["dynamic_lds"] for name in ("with", "without")] == [True, False]


def test_a_call_that_leaves_the_source_is_named(report_on: Callable[[str], dict[str, Any]]) -> None:
    declared = 'extern "C" __device__ float far(float);'
    found = report_on(f"{HEADER}{declared}\n__global__ void k(float* p) {{ *p = far(*p); }}")
    assert found["kernels"]["k"]["uncounted"] == ["far"]
    assert "Calls of far are counted without" in found["note"]


def test_recursion_is_counted(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on(
        f"{HEADER}__device__ int f(int n) {{ return n < 2 ? n : f(n - 1) + f(n - 2); }}\n"
        "__global__ void k(int* p) { p[0] = f(p[1]); }"
    )
    assert found["kernels"]["k"]["scratch_bytes"] > 0
    assert found["kernels"]["k"]["uncounted"] == []


def test_the_code_of_the_device_library_is_counted(report_on: Callable[[str], dict[str, Any]]) -> None:
    found = report_on(f"{HEADER}__global__ void k(float* p) {{ p[0] = tanhf(p[0]) + expf(p[1]); }}")
    assert (found["kernels"]["k"]["uncounted"], found["note"]) == ([], "")
    assert found["kernels"]["k"]["instructions"] > 20


def test_cuda_needs_no_include(report_on: Callable[[str], dict[str, Any]]) -> None:
    kernel = "__global__ void k(float* p) { p[threadIdx.x] = 1; }\n"
    found = report_on(f"{kernel}void run(float* p) {{ k<<<1, 64>>>(p); cudaDeviceSynchronize(); }}")
    assert (set(found["kernels"]), found["note"]) == ({"k"}, "")


def test_a_main_does_no_harm(report_on: Callable[[str], dict[str, Any]]) -> None:
    kernel = f"{HEADER}__global__ void k(float* p) {{ p[threadIdx.x] = 1; }}\n"
    found = report_on(f'{kernel}extern "C" void solution(float* p) {{ k<<<1, 64>>>(p); }}\nint main() {{ return 0; }}')
    assert (set(found["kernels"]), found["note"]) == ({"k"}, "")


def test_headers_that_cannot_be_read_are_our_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tuple(replace(one, folder=tmp_path / "gone") for one in toolchain.releases())
    monkeypatch.setattr(toolchain, "releases", lambda _: broken)
    (tmp_path / "solution.hip").write_text(f"{HEADER}__global__ void k(float* p) {{ *p = 1; }}")
    with pytest.raises(ToolchainError, match="the precompiled headers for gfx942 cannot be used"):
        report(tmp_path)
