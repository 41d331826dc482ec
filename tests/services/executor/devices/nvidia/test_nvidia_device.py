"""The nvidia device: tests that need only its compiler, and tests that need a GPU."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from struct import pack

import pytest

from hipcpu.build_folder import BuildKind
from hipcpu.toolchain import PACKAGE
from problems.library.catalogue import Catalogue
from services.executor.core.certify.sources import honest_source, refused_on
from services.executor.core.commands.record_command import recorded
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CachedBuild, CompileCache
from services.executor.core.compile.forbidden import check_build, rules, rules_for
from services.executor.core.launching.contract import unit_of
from services.executor.core.launching.program import Launch, LaunchProgram
from services.executor.core.model.failure import Failure
from services.executor.core.model.limits import StageLimits
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.device_properties import properties_source
from services.executor.core.run.installation import Options, open_context
from services.executor.core.sandbox.canary import canary_job
from services.executor.devices.nvidia import toolchain
from services.executor.devices.nvidia.gpu import Gpu
from services.executor.devices.nvidia.nvidia_device import NvidiaDevice
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Mount
from tests.kept_builds import LIMIT_BYTES, kept_folder
from tests.tiers import sampled

Build = Callable[[Unit], Awaitable[CachedBuild]]

# A cold build takes 18 s of processor time, and minutes if many processes wait for it.
pytestmark = pytest.mark.timeout(300)

PROBLEMS = Path(__file__).parents[5] / "problems" / "catalogue"
HOPPER = Gpu(0, "A Test H100", "9.0", 80_000, 132)


@pytest.mark.parametrize("knows", ["the environment", "ldconfig"])
def test_a_run_has_the_drivers_libraries_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows: str
) -> None:
    folder = tmp_path / "driver"
    folder.mkdir()
    (folder / "libcuda.so.1").touch()
    ldconfig = tmp_path / "ldconfig"
    listed = f"\tlibcuda.so.1 (libc6,x86-64) => {folder}/libcuda.so.1" if knows == "ldconfig" else ""
    ldconfig.write_text(
        f"#!/bin/sh\ncat <<'END'\n2 libs found\n{listed}\n\tlibcuda.so (libc6) => /no/libcuda.so\nEND\n"
    )
    ldconfig.chmod(0o755)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/no/such:{folder}" if knows == "the environment" else "")
    monkeypatch.setattr(toolchain.shutil, "which", lambda _, path: str(ldconfig))
    monkeypatch.setattr(toolchain, "_USUAL_FOLDERS", ())
    monkeypatch.setattr(toolchain, "driver_folders", toolchain.driver_folders.__wrapped__)
    command = NvidiaDevice(HOPPER).run_command(tmp_path, BuildKind.SOLUTION)
    assert command.environment["LD_LIBRARY_PATH"] == str(folder)
    assert Mount(folder, folder) in command.mounts


def _builds(tmp_path: Path) -> Path:
    return kept_folder("builds") or tmp_path / "builds"


@pytest.fixture
def build(tmp_path: Path) -> Build:
    async def compiled(unit: Unit) -> CachedBuild:
        for name in ("compile", "run"):
            (tmp_path / name).mkdir(mode=0o755)
        tmp_path.chmod(0o755)
        builder = Builder(
            NvidiaDevice(HOPPER),
            await choose_sandbox("auto"),
            CompileCache(_builds(tmp_path), LIMIT_BYTES),
            StageLimits().builder,
        )
        return await builder.build(unit, tmp_path / "compile", tmp_path / "run")

    return compiled


@pytest.fixture(scope="session")
def kept_objects(tmp_path_factory: pytest.TempPathFactory) -> CompileCache:
    """A cache of CUDA's objects, or its error messages, for the sources in this repository."""
    return CompileCache(kept_folder("objects") or tmp_path_factory.mktemp("objects"), LIMIT_BYTES)


def test_it_says_what_it_is() -> None:
    described = NvidiaDevice(HOPPER).describe()
    assert (described.name, described.architecture, described.wavefront_size) == ("nvidia", "sm_90", 32)
    assert described.is_gpu
    assert described.max_lds_bytes == 227 << 10
    assert NvidiaDevice(replace(HOPPER, capability="7.0")).describe().max_lds_bytes == 48 << 10


@pytest.mark.cuda
@pytest.mark.parametrize("slug", ["softmax", "matrix-multiplication"])
async def test_solutions_become_executables_for_the_gpu_in_a_sandbox(build: Build, slug: str) -> None:
    entry = Catalogue.load().get(slug)
    built = await build(unit_of(entry.solution, entry.problem))
    assert b"sm_90" in built.executable
    # CUDA's runtime, which is linked in, loads the driver: the submission does not.
    assert b"dlsym" in built.executable
    check_build(built.facts.libraries, built.facts.symbols, rules_for(rules(), entry.problem.forbidden))


@pytest.mark.cuda
async def test_a_kernel_that_uses_hipcub_calls_nothing_forbidden(build: Build) -> None:
    slug, source = honest_source("cumsum_hipcub_device")
    problem = Catalogue.load().get(slug).problem
    built = await build(unit_of(source, problem))
    check_build(built.facts.libraries, built.facts.symbols, rules_for(rules(), problem.forbidden))


SOURCES = sorted([*PROBLEMS.glob("*/solution.hip"), *(Path(__file__).parents[4] / "honest").glob("*.hip")])


@pytest.mark.cuda
@pytest.mark.parametrize("source", sampled(SOURCES, SOURCES[::10]), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_references_and_what_people_write_compile_unless_cuda_has_no_words_for_it(
    source: Path, tmp_path: Path, kept_objects: CompileCache
) -> None:
    command = toolchain.driver("sm_90").compile
    key = sha256(f"{toolchain.toolchain('sm_90').identity} {command} {source.read_text()}".encode()).hexdigest()
    compiled = kept_objects.get(key)
    if compiled is None:
        made = tmp_path / "object.o"
        done = subprocess.run([*command, "-c", source, "-o", made], capture_output=True, text=True, check=False)
        assert made.exists() == (done.returncode == 0)
        compiled = CachedBuild.of(made.read_bytes() if made.exists() else b"", done.stderr)
        kept_objects.put(key, compiled)
    expected = refused_on("nvidia").get(source.stem, "")
    assert bool(compiled.executable) != bool(expected), compiled.warnings
    assert expected in compiled.warnings


RECORDED = """#include <hip/hip_runtime.h>
namespace {
__constant__ float factor[1];
template <int threads> __global__ void scale(const float* in, float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)threads + threadIdx.x;
  if (i < n) out[i] = in[i] * factor[0];
}
}
static __global__ void rectify(float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n && out[i] < 0) out[i] = 0;
}
extern "C" void solution(const float* in, float* out, size_t n, size_t m) {
  const float one = 1;
  hipDeviceProp_t facts;
  (void)hipGetDeviceProperties(&facts, 0);
  (void)hipMemcpyToSymbol(HIP_SYMBOL(factor), &one, sizeof one);
  scale<256><<<(n * m + 255) / 256, 256>>>(in, out, n * m);
  const auto most = facts.sharedMemPerBlockOptin;
  if (facts.sharedMemPerBlock == 48 << 10 &&
      hipFuncSetAttribute((const void*)rectify, hipFuncAttributeMaxDynamicSharedMemorySize, most) == hipSuccess)
    rectify<<<facts.multiProcessorCount * ((n * m + 4095) / 4096), facts.warpSize, most>>>(out, n * m);
}
"""


PROPERTIES = {
    **dict.fromkeys(re.findall(r"F\((\w+)\)", (PACKAGE / "runtime/calls/device_properties.h").read_text()), b""),
    "sharedMemPerBlock": pack("<q", 48 << 10),
    "sharedMemPerBlockOptin": pack("<q", 227 << 10),
    "multiProcessorCount": pack("<i", 132),
    "warpSize": pack("<i", 32),
}


@pytest.mark.cuda
async def test_host_code_is_recorded_by_the_names_and_facts_of_the_gpu(tmp_path: Path) -> None:
    on_cpu = await open_context(Options("cpu", "auto", _builds(tmp_path), LIMIT_BYTES >> 20))
    problem = Catalogue.load().get("relu").problem
    (case, *_) = problem.sizes.cpu
    on_gpu = replace(on_cpu, device=NvidiaDevice(HOPPER), properties=PROPERTIES)
    (program,) = await recorded(RECORDED, problem, [case], on_gpu)
    assert isinstance(program, LaunchProgram), program
    scale, rectify = (step for step in program.later if isinstance(step, Launch))
    # nvcc's own names: without the L of a static function, and with a hash of the file.
    assert "_GLOBAL__N__" in scale.kernel
    assert "scaleILi256E" in scale.kernel
    assert rectify.kernel == "_Z7rectifyPfm"
    assert "factor" in program.variables[0]
    assert (rectify.block[0], rectify.grid[0] % HOPPER.multiprocessors) == (32, 0)
    assert rectify.lds_bytes == 227 << 10


@pytest.mark.cuda
@pytest.mark.parametrize("slug", ["nvfp4-gemm", "nvfp4-quantize"])
async def test_kernels_with_arguments_of_16_bits_are_recorded(tmp_path: Path, slug: str) -> None:
    """nvcc names them after one of our classes."""
    on_cpu = await open_context(Options("cpu", "auto", _builds(tmp_path), LIMIT_BYTES >> 20))
    entry = Catalogue.load().get(slug)
    (case, *_) = entry.problem.sizes.cpu
    (program,) = await recorded(entry.solution, entry.problem, [case], replace(on_cpu, device=NvidiaDevice(HOPPER)))
    assert isinstance(program, LaunchProgram), program


@pytest.mark.cuda
async def test_a_gpu_that_nobody_asked_has_no_constants_of_another(tmp_path: Path) -> None:
    on_cpu = await open_context(Options("cpu", "auto", _builds(tmp_path), LIMIT_BYTES >> 20))
    problem = Catalogue.load().get("relu").problem
    (found,) = await recorded(RECORDED, problem, problem.sizes.cpu[:1], replace(on_cpu, device=NvidiaDevice(HOPPER)))
    assert "host code asks for name of the GPU" in str(found)


@pytest.mark.cuda
async def test_what_asks_a_gpu_for_its_properties_becomes_a_program(build: Build) -> None:
    assert b"sm_90" in (await build(unit_of(properties_source(), None))).executable


@pytest.mark.cuda
async def test_the_canary_becomes_a_program(build: Build) -> None:
    device = NvidiaDevice(HOPPER)
    assert b"sm_90" in (await build(unit_of(canary_job(device.describe()).source, None))).executable


@pytest.mark.cuda
async def test_errors_are_reported_with_their_line(build: Build) -> None:
    entry = Catalogue.load().get("relu")
    with pytest.raises(Failure) as caught:
        await build(unit_of(f"{entry.solution}\nint x = no_such_name;\n", entry.problem))
    assert caught.value.verdict is Verdict.COMPILE_ERROR
    assert "no_such_name" in caught.value.details


HIDDEN = """#include <hip/hip_runtime.h>
extern "C" void solution(const float*, float*, size_t, size_t) {
  asm volatile("call dlo" "pen");
  asm volatile("call cudaGetDriver" "EntryPointByVersion");
  asm volatile("call cudaLibraryLo" "adData");
}
"""


@pytest.mark.cuda
async def test_loaders_with_hidden_names_are_refused_though_cudas_runtime_has_its_own(build: Build) -> None:
    built = await build(unit_of(HIDDEN, Catalogue.load().get("relu").problem))
    assert {"dlopen", "cudaGetDriverEntryPointByVersion", "cudaLibraryLoadData"} <= set(built.facts.symbols)
    with pytest.raises(Failure, match="the build calls `cudaGetDriverEntryPointByVersion`") as caught:
        check_build(built.facts.libraries, built.facts.symbols, rules_for(rules(), ()))
    assert caught.value.verdict is Verdict.FORBIDDEN_LIBRARY


@pytest.mark.cuda
async def test_device_code_cannot_call_what_its_compiler_does_not_know(build: Build) -> None:
    entry = Catalogue.load().get("relu")
    call = 'extern "C" __device__ int hipLoad(int);\n__global__ void k(int* out) { *out = hipLoad(1); }\n'
    with pytest.raises(Failure) as caught:
        await build(unit_of(f"#include <hip/hip_runtime.h>\n{call}{entry.solution}", entry.problem))
    assert caught.value.verdict is Verdict.COMPILE_ERROR
    assert "hipLoad" in caught.value.details
