"""The host processor as a device: HIP kernels compiled to its own machine code."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import psutil

from hipcpu import toolchain
from hipcpu.build_folder import BuildKind
from hipcpu.bytecode import keep_bytecode
from hipcpu.prepare import prepare, refresh
from services.executor.devices.cpu.sanitized import SanitizedCpuDevice
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.devices.kernel_trace import FILE_NAME, read_trace
from services.executor.devices.profiling import Dispatch, ProfileClock, Profiler
from services.executor.devices.sanitizing import Sanitized
from services.executor.sandboxes.sandbox import Command, Mount
from vocabulary.slots import EIGHTHS_PER_GPU

_BUILD = Path("/build")
_PROFILE = Path("/profile")
_TRACER = "wavepool cpu runtime"
_WAVEFRONT_SIZE = 64
_SERVICES = Path(__file__).parents[3]
_BUILD_PROGRAM = toolchain.PACKAGE / "sandboxed_build.py"


class CpuDevice:
    """The `cpu` device; implements Device, Maskable, OnProcessors and Profiled.

    `workers` is the number of threads that run its kernels: by default one per processor.
    """

    def __init__(self, workers: int = 0) -> None:
        self._workers = workers or len(os.sched_getaffinity(0))

    def within(self, cores: float) -> CpuDevice:
        """Return the same device with at most `cores` threads, and at least one."""
        return CpuDevice(max(1, min(self._workers, int(cores))))

    def masked(self, first_eighth: int, eighths: int) -> CpuDevice:
        """Return the same device with its share of the threads, and at least one: the kernel chooses the processors."""
        del first_eighth
        return self.within(self._workers * eighths / EIGHTHS_PER_GPU)

    def describe(self) -> DeviceDescription:
        """Describe the host processor, under its model name."""
        return replace(_description(), compute_units=self._workers)

    def toolchain(self) -> Toolchain:
        """Return the toolchain in the cache; raises ToolchainError if it was not prepared."""
        return _toolchain(" ".join(part.name for part in refresh().parts))

    def prepare(self) -> None:
        """Prepare the toolchain if that was not done, which takes one to three minutes; raises ToolchainError."""
        if not toolchain.prepared().complete:
            prepare()

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the Python command that runs both front ends, the join, the code generator and the linker."""
        environment = {
            "PYTHONPATH": os.pathsep.join(_site_packages()),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WAVEPOOL_CACHE_DIR": str(toolchain.cache_folder()),
            "PATH": "/usr/bin:/bin",
        }
        arguments = [sys.executable, "-P", "-S", str(_BUILD_PROGRAM), str(_BUILD), kind.value]
        return Command(
            arguments,
            _BUILD,
            [*_toolchain_mounts(toolchain.cache_folder()), Mount(folder, _BUILD, writable=True)],
            environment,
        )

    def sanitized(self) -> Sanitized:
        """Return the same device with kernels that check their memory accesses."""
        return SanitizedCpuDevice(self)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        """Return the executable alone: it is static and needs nothing of the host."""
        environment = {"WAVEPOOL_CPU_WORKERS": str(self._workers)}
        return Command([str(_BUILD / kind.executable)], _BUILD, [Mount(folder, _BUILD)], environment)

    def profiler(self) -> Profiler:
        """Return our runtime, which takes the host's time around each launch."""
        return Profiler(_TRACER, "", ProfileClock.HOST)

    def profile_command(self, command: Command, folder: Path) -> Command:
        """Return `command` with a trace of its launches in `folder`."""
        return replace(
            command,
            mounts=(*command.mounts, Mount(folder, _PROFILE, writable=True)),
            environment={**command.environment, "WAVEPOOL_KERNEL_TRACE": str(_PROFILE / FILE_NAME)},
        )

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        """Return the launches in the trace; raises ValueError."""
        return read_trace(folder, _TRACER)


@cache
def _code_generator() -> str:
    return f"llvmlite {importlib.metadata.version('llvmlite')}"


# Asked for at every step of a run, and constant while the process lives.


@cache
def _description() -> DeviceDescription:
    return DeviceDescription(
        name="cpu",
        title=_processor_title(Path("/proc/cpuinfo").read_text()),
        architecture="x86_64",
        wavefront_size=_WAVEFRONT_SIZE,
        compute_units=len(os.sched_getaffinity(0)),
        memory_mib=psutil.virtual_memory().total >> 20,
        is_gpu=False,
    )


@cache
def _toolchain(prepared_name: str) -> Toolchain:
    from hipcpu.modules import back_end  # noqa: PLC0415 - a big library, not needed to describe

    keep_bytecode(toolchain.PACKAGE)
    processor = " ".join(back_end.processor())
    steps = f"{toolchain.steps_digest()} {_code_generator()}"
    identity = hashlib.sha256(f"{prepared_name} {steps} {processor}".encode()).hexdigest()
    compiler = toolchain.compiler()
    title = f"clang 22.1.8 (ziglang {compiler.version}) + wavepool cpu runtime"
    return Toolchain(identity, title, compiler.shown_kernel_pass("solution.hip"))


def _processor_title(cpuinfo: str) -> str:
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "unknown x86-64 processor"


def _site_packages() -> Sequence[str]:
    """Return the folders of ziglang and llvmlite; the two may be installed in different places."""
    return sorted({str(toolchain.compiler().folder.parent), str(toolchain.code_generator_folder().parent)})


@cache
def _toolchain_mounts(cache_folder: Path) -> tuple[Mount, ...]:
    """Mount folders at their own paths: precompiled headers and the Python environment name absolute paths."""
    folders = [Path(sys.prefix), Path(sys.base_prefix), toolchain.PACKAGE, _SERVICES, cache_folder / "cpu"]
    folders += [Path(folder) for folder in _site_packages()]
    # The build asks which release of ROCm's libraries was fetched.
    folders += [toolchain.fetched_rocm()] if toolchain.prepared().rocm_headers else []
    outermost = [folder for folder in folders if not any(other in folder.parents for other in folders)]
    outermost = [folder for folder in dict.fromkeys(outermost) if folder not in {Path("/usr"), Path("/usr/local")}]
    return tuple(Mount(folder, folder) for folder in outermost if Path("/usr") not in folder.parents)
