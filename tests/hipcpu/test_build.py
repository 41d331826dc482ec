"""The build command: its messages about sources that it cannot build, and its output for those that it can."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hipcpu import toolchain
from hipcpu.build import main
from hipcpu.front.diagnostics import hints

_FLASH_ATTENTION = ("check.h", "flash_attention.hip")
_KERNEL = "__global__ void k(float* p) { p[threadIdx.x] = 1; }\n"
_HARNESS = """extern "C" void solution(float*);
extern "C" void wavepool_call(void** arguments) { solution(static_cast<float*>(arguments[0])); }
"""


def _build(folder: Path, source: str, kind: str = "program") -> int:
    (folder / "solution.hip").write_text(source)
    (folder / "harness.cpp").write_text(_HARNESS)
    return main([str(folder), kind])


def test_solution_is_linked_into_a_static_runner(tmp_path: Path) -> None:
    source = _KERNEL + 'extern "C" void solution(float* p) { k<<<1, 64>>>(p); }'

    assert _build(tmp_path, source, "solution") == 0
    done = subprocess.run([tmp_path / "runner"], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode != 127
    assert b"/ld-linux" not in (tmp_path / "runner").read_bytes()


def test_a_linker_that_cannot_write_its_program_is_no_fault_of_the_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runner").mkdir()

    assert _build(tmp_path, _KERNEL + 'extern "C" void solution(float* p) { k<<<1, 64>>>(p); }', "solution") == 2
    assert "toolchain failure" in capsys.readouterr().err


_MAINS = (
    "int main() { std::exit(77); }",
    "int main(int, char**) { std::exit(77); }",
    "__attribute__((weak)) int main() { std::exit(77); }",
    'extern "C" int driver() asm("main");\nextern "C" int driver() { std::exit(77); }',
)


@pytest.mark.parametrize("main", _MAINS)
def test_a_main_beside_the_solution_is_never_run(tmp_path: Path, main: str) -> None:
    source = f'#include <cstdlib>\n{_KERNEL}extern "C" void solution(float* p) {{ k<<<1, 64>>>(p); }}\n{main}\n'

    # The runner ends with its own status here, since it gets no orders.
    assert _build(tmp_path, source, "solution") == 0
    done = subprocess.run([tmp_path / "runner"], capture_output=True, timeout=60, check=False)
    without = tmp_path / "without"
    without.mkdir()
    assert _build(without, source.removesuffix(f"{main}\n"), "solution") == 0
    other = subprocess.run([without / "runner"], capture_output=True, timeout=60, check=False)

    assert done.returncode != 77
    assert (done.returncode, done.stderr) == (other.returncode, other.stderr)


@pytest.mark.parametrize(
    "source",
    [
        'int f() { return 7; }\nextern "C" __attribute__((alias("_Z1fv"))) int main();\n',
        'asm(".globl main\\nmain: ret");\n',
    ],
)
def test_a_main_that_is_hidden_from_us_is_refused(
    tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, source + 'extern "C" void solution(float*) {}', "solution") == 1

    assert "duplicate symbol: main" in capsys.readouterr().err


def test_cuda_needs_no_include(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "float* p; cudaError_t error = cudaMalloc(&p, 256); k<<<1, 64>>>(p); return error + cudaDeviceSynchronize();"

    assert _build(tmp_path, f"{_KERNEL}int main() {{ {body} }}") == 0

    assert subprocess.run([tmp_path / "program"], timeout=60, check=False).returncode == 0
    assert _build(tmp_path, f"{_KERNEL}int main() {{ cudaDeviceSynchronise(); }}") == 1
    assert "hipDevice" not in capsys.readouterr().err


def test_names_of_cuda_that_a_source_defines_are_its_own(tmp_path: Path) -> None:
    own = "#define cudaMalloc(bytes) (void*)(7 + bytes)\n"

    assert _build(tmp_path, f"{own}int main() {{ return cudaMalloc(1) == (void*)8 ? 0 : 1; }}") == 0
    assert (tmp_path / "diagnostics.json").read_text() == "[]"
    assert subprocess.run([tmp_path / "program"], timeout=60, check=False).returncode == 0


def test_compiler_error_has_the_submission_s_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _build(tmp_path, _KERNEL + "int main() { return undeclared; }") == 1

    text = capsys.readouterr().err
    assert text.startswith("solution.hip:2:21: error: use of undeclared identifier 'undeclared'")
    assert text.count("error:") == 1
    assert str(tmp_path) not in text
    (found,) = json.loads((tmp_path / "diagnostics.json").read_text())
    assert (found["line"], found["column"], found["severity"]) == (2, 21, "error")


def test_error_in_a_header_has_no_folder_of_the_toolchain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = "struct Wide { long values[2]; };\n__global__ void k(Wide* p) { __match_any_sync(~0ull, *p); }\n"
    assert _build(tmp_path, f"#include <vector>\n{wide}int main() {{ std::vector<int&> x; }}") == 1

    text = capsys.readouterr().err
    assert "wavepool/threads/wave_operations.h:" in text
    assert str(toolchain.cache_folder()) not in text
    assert str(toolchain.compiler().folder) not in text


def test_error_in_a_kernel_is_reported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _build(tmp_path, "__global__ void k(float* p) { p.x = 1; }\nint main() {}") == 1

    assert capsys.readouterr().err.count("error:") == 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (_KERNEL + "void solution(float* p) {}", 'not extern "C"'),
        ('extern "C" __global__ void solution(float* p) { *p = 1; }', "a host function `solution` is needed"),
        (_KERNEL, "no function `solution` is defined"),
    ],
)
def test_classic_mistake_gets_a_hint(
    source: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, source, "solution") == 1

    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("p[0] = __builtin_amdgcn_mfma_f32_32x32x64f32(1, 1, 1);", "clang has no such builtin for gfx942"),
        (
            'asm("add.f32 %0, %1, %2;" : "=f"(p[0]) : "f"(p[1]), "f"(p[2]));',
            "PTX is NVIDIA's assembly, and HIP has none",
        ),
        ("p[0] = tex2D<float>(t, 0, 0);", "tex2D: there are no textures, as the MI300X has none either"),
        ("hipTextureObject_t t = 0;", "read global memory, with __ldg or plain pointers"),
        ("nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;", "these are NVIDIA's matrix units"),
        ("k<<<1, 1>>>(p);", "HIP has no dynamic parallelism: launch from `solution`"),
        ("p[0] = __CUDA_ARCH__;", "the device is not NVIDIA's: test it with #ifdef"),
        ("p[0] = rocwmma::mem_row_major;", "rocwmma: rocWMMA's headers are not here"),
        ("hipMemAllocNodeParams q; hipGraphAddMemAllocNode(0, 0, 0, 0, &q);", "hipMalloc before the graph is made"),
        ("hipGraphAddBatchMemOpNode(0, 0, 0, 0, 0);", "has all but memory nodes, semaphores, operation batches"),
    ],
)
def test_what_only_a_gpu_has_is_refused_with_the_reason(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, f"__global__ void k(float* p) {{ {body} }}\nint main() {{}}") == 1

    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("curand_kernel.h", "curand_kernel.h: random number libraries are not available"),
        ("torch/extension.h", "a submission is no extension of torch"),
        ("hip_bf16.h", "hip_bf16.h: HIP's headers are in the folder `hip`"),
        ("cublas_v2.h", "cublas_v2.h: vendor libraries are not available on the cpu device"),
        ("helper_cuda.h", "this header is no part of HIP: drop it"),
        ("rocwmma/rocwmma.hpp", "multiply tiles with the matrix builtins"),
    ],
)
def test_a_header_that_is_not_there_is_refused_with_what_to_do(
    header: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _build(tmp_path, f"#include <{header}>\nint main() {{}}") == 1

    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("fatal error: 'rccl/rccl.h' file not found", ["rccl/rccl.h: this joins several GPUs"]),
        ("fatal error: 'omp.h' file not found", ["omp.h: host code has no OpenMP"]),
        ("fatal error: 'hip/hiprtc.h' file not found", ["hip/hiprtc.h: nothing is compiled while"]),
        ("fatal error: 'ck/config.h' file not found", ["ck/config.h: Composable Kernel's build makes"]),
        ("fatal error: 'ck/ck.hpp' file not found", ["ck/ck.hpp: vendor libraries are not available"]),
        ("fatal error: 'vulkan/vulkan.h' file not found", ["vulkan/vulkan.h: this header is not on the cpu device"]),
        ("error: no member named 'sum' in 'at::Tensor'", ["no member named 'sum' in 'at::Tensor': of torch's C++"]),
        # What a source has of its own is not missing.
        ("error: no matching function for call to 'rocwmma::mma_sync'\nnote: ck::index_t", []),
    ],
)
def test_what_is_missing_is_told_from_what_is_wrong(error: str, said: list[str]) -> None:
    assert [hint[: len(part)] for hint, part in zip(hints(error), said, strict=True)] == said


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize(
    "source",
    [
        "#include <hipcub/block/block_radix_sort.hpp>\n",
        "#include <rocprim/rocprim.hpp>\n",
        "#include <thrust/reduce.h>\n",
        "#include <hipcub/hipcub.hpp>\nusing Load = hipcub::BlockLoad<int, 64, 4>;\n",
    ],
)
def test_where_rocm_s_libraries_are_missing_is_said_how_to_get_them(
    source: str, is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = tmp_path / "refused"
    refused.mkdir()
    (refused / toolchain.REFUSED).touch()
    folders = (refused, refused) if is_there else (None, None)
    without = replace(toolchain.prepared(), rocm_headers=folders[0], rocm_preludes=folders[1])
    monkeypatch.setattr(toolchain, "prepared", lambda: without)

    assert _build(tmp_path, f"{source}int main() {{}}") == 1

    said = capsys.readouterr().err
    assert ("gfx942.prepare --fetch` brings them" in said) is not is_there
    assert ("this machine's release of ROCm's headers does not compile" in said) is is_there
    assert "of hipCUB, Block-, Warp- and DeviceReduce" in said


def test_vendor_library_is_refused_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _build(tmp_path, "#include <rocblas/rocblas.h>\nint main() {}") == 1

    assert "vendor libraries are not available on the cpu device" in capsys.readouterr().err


def test_undefined_function_is_the_source_s_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _build(tmp_path, "void elsewhere();\nint main() { elsewhere(); }") == 1

    assert "undefined symbol: elsewhere()" in capsys.readouterr().err


def test_broken_harness_is_not_the_source_s_fault(tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text('extern "C" void solution(float*) {}')
    (tmp_path / "harness.cpp").write_text("nonsense")

    assert main([str(tmp_path), "solution"]) == 2


def test_warning_does_not_fail_the_build(tmp_path: Path) -> None:
    assert _build(tmp_path, "int main() { int* p = nullptr; if (p = p) return *p; return 0; }") == 0
    severities = [found["severity"] for found in json.loads((tmp_path / "diagnostics.json").read_text())]
    assert severities == ["warning", "note", "note"]


def test_names_beyond_ascii_are_names_like_any_other(tmp_path: Path) -> None:
    source = """#include <hip/hip_runtime.h>
        __constant__ float größe[2];
        __device__ int zähler = 1;
        __global__ void übung(float* p) {
            extern __shared__ float geteilt[];
            p[0] = größe[1], zähler += geteilt[0] > 1;
        }
        int main() {
            float *p, x[] = {1, 7}, y = 0;
            if (hipMalloc(&p, 4) || hipMemcpyToSymbol(größe, x, 8)) return 2;
            übung<<<1, 1, 64>>>(p);
            return hipMemcpy(&y, p, 4, hipMemcpyDeviceToHost) || y != 7;
        }"""
    assert _build(tmp_path, source) == 0
    assert subprocess.run([tmp_path / "program"], timeout=60, check=False).returncode == 0


def test_module_runs_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "solution.hip").write_text("int main() { return 7; }")
    command = [sys.executable, "-m", "hipcpu.build", str(tmp_path), "program"]

    subprocess.run(command, check=True, timeout=60)

    assert subprocess.run([tmp_path / "program"], timeout=60, check=False).returncode == 7


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_precompiled_headers_that_cannot_be_read_are_our_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    prepared = toolchain.prepared()
    broken = tmp_path / "device"
    broken.mkdir()
    if damage == "cut":
        for prelude in (prepared.prelude(kernels=False), prepared.prelude(kernels=True)):
            (broken / prelude.name).write_bytes(prelude.read_bytes()[:1000])
    monkeypatch.setattr(toolchain, "prepared", lambda: replace(prepared, device=broken))

    assert _build(tmp_path, f"{_KERNEL}int main() {{}}") == 2
    assert "precompiled headers cannot be used" in capsys.readouterr().err


def test_a_source_that_speaks_of_precompiled_headers_is_at_fault_itself(tmp_path: Path) -> None:
    assert _build(tmp_path, "#error unable to read PCH file\nint main() {}") == 1


def test_many_shuffles_compile_in_seconds(tmp_path: Path) -> None:
    # Processor time, which other programs affect little: 10 s beside eight busy programs, and 52 s if all
    # loops of the kernel are in one function.
    kernels = Path(__file__).parent / "kernels"
    (tmp_path / "solution.hip").write_text("".join((kernels / name).read_text() for name in _FLASH_ATTENTION))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "hipcpu.build", tmp_path, "program"]
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)

    assert after.ru_utime - before.ru_utime < 20


def test_kernels_run_where_no_thread_can_be_started(tmp_path: Path) -> None:
    # The kernel refuses clone(2) with EAGAIN, as it does to a user with too many processes.
    source = """#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
__global__ void fill(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 7; }
int main() {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 11),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    sock_fprog filter{4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int* p;
    if (hipMalloc(&p, 256 * sizeof(int)) != hipSuccess) return 2;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return 3;
    fill<<<4, 64>>>(p);
    if (hipDeviceSynchronize() != hipSuccess) return 4;
    for (int i = 0; i < 256; ++i) if (p[i] != 7) return 5;
    return 0;
}
"""
    assert _build(tmp_path, source) == 0

    assert subprocess.run([tmp_path / "program"], timeout=60, check=False).returncode == 0
