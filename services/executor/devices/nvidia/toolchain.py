"""Finds CUDA's compiler, and holds the options that all uses share."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from hipcpu.toolchain import cache_folder
from services.executor.devices.device import Toolchain
from services.executor.devices.offload.build_script import Driver
from services.executor.devices.offload.runner_objects import RUNNER, runner_sources

_DRIVER_LIBRARY = "libcuda.so.1"
# Used by Debian, by Red Hat, by container toolkits elsewhere, and under Windows.
_USUAL_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/nvidia/lib64", "/usr/lib/wsl/lib")
INCLUDE = Path(__file__).parent / "include"
# Accepted by clang in HIP by default: lambdas as kernels' arguments, and constexpr functions on the device.
_LANGUAGE = ("--extended-lambda", "--expt-relaxed-constexpr")
# CUB's marks for profilers call dlopen, which no submission may.
_NO_MARKS = ("-DCCCL_DISABLE_NVTX",)
_OPTIONS = ("-std=c++20", "-O3", *_LANGUAGE, *_NO_MARKS, "--forward-unknown-to-host-compiler", "-fno-strict-aliasing")


@dataclass(frozen=True)
class Cuda:
    """An installed CUDA toolkit."""

    folder: Path
    version_text: str

    @property
    def nvcc(self) -> str:
        """The compiler driver."""
        return str(self.folder / "bin" / "nvcc")

    @property
    def version(self) -> str:
        """Version, e.g. `13.0.88`."""
        words = self.version_text.replace(",", " ").split()
        return next((word[1:] for word in words if word.startswith("V") and word[1:2].isdigit()), "unknown")


@cache
def cuda() -> Cuda:
    """Return CUDA_HOME's toolkit, or that of the nvcc on the path; raises ToolchainError."""
    home = os.environ.get("CUDA_HOME")
    nvcc = Path(home) / "bin" / "nvcc" if home else Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    try:
        done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603  the compiler
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"no CUDA compiler at {nvcc}; install CUDA 13, or name its folder in CUDA_HOME") from error
    return Cuda(nvcc.resolve().parent.parent, done.stdout)


def driver(architecture: str) -> Driver:
    """Return nvcc's command lines for one GPU architecture, e.g. `sm_90`."""
    # As on the other devices, a source may omit the includes that everybody needs.
    shown = ("-I", str(INCLUDE), "-I", str(RUNNER), "-include", "hip/hip_runtime.h")
    common = (cuda().nvcc, *_OPTIONS, f"-arch={architecture}", *shown)
    return Driver(
        compile=(*common, "-x", "cu"),
        # Nothing of the toolkit is needed at run time, so none of it is shown in the runner's sandbox.
        link=(cuda().nvcc, f"-arch={architecture}", "-cudart", "static"),
        kernels=(*common, "-x", "cu", "-fatbin"),
        assemble=("as",),
        hide_main=("objcopy", "--localize-symbol=main"),
        plain=(cuda().nvcc, "-std=c++20", "-O3", "-x", "c++"),
    )


def toolchain(architecture: str, recorder: str = "") -> Toolchain:
    """Return the compiler with our headers and runner; `recorder` is the identity of the recorders' compiler."""
    digest = hashlib.sha256(f"{cuda().version_text} {driver(architecture)}".encode())
    for source in (*sorted(INCLUDE.rglob("*.h*")), *runner_sources(), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(source.read_bytes())
    digest.update(recorder.encode())
    title = f"nvcc {cuda().version} for {architecture} + wavepool HIP headers"
    return Toolchain(digest.hexdigest(), title, driver(architecture).shown())


def runner_folder(architecture: str) -> Path:
    """Return the folder of the runner's objects for this toolchain."""
    return cache_folder() / "nvidia" / toolchain(architecture).identity[:16]


@cache
def driver_folders() -> tuple[Path, ...]:
    """Return the folders of the driver's own libraries; empty if there is no driver.

    They are searched as the loader does: in LD_LIBRARY_PATH, in ldconfig's list, and in the usual places.
    """
    named = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    candidates = [*named, *_known_to_ldconfig(), *map(Path, _USUAL_FOLDERS)]
    found = [folder.resolve() for folder in candidates if (folder / _DRIVER_LIBRARY).exists()]
    return tuple(dict.fromkeys(found))


def _known_to_ldconfig() -> list[Path]:
    ldconfig = shutil.which("ldconfig", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if ldconfig is None:
        return []
    listed = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False, timeout=60)  # noqa: S603  the system's
    lines = (line.partition(" => ") for line in listed.stdout.splitlines())
    return [Path(path).parent for name, _, path in lines if name.split() and name.split()[0] == _DRIVER_LIBRARY]
