"""Finds ROCm's compiler, and holds the options that all uses share."""

from __future__ import annotations

import hashlib
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hipcpu.build_folder import ToolchainError
from hipcpu.toolchain import PACKAGE, cache_folder
from services.executor.devices.device import Toolchain
from services.executor.devices.offload.build_script import Driver
from services.executor.devices.offload.runner_objects import RUNNER, runner_sources
from services.executor.devices.rocm.home import rocm_home

OLDEST = (6, 2)
"""Oldest ROCm whose compiler and runtime we rely on."""
_ADVICE = f"install ROCm {OLDEST[0]}.{OLDEST[1]} or newer"
# Enables `__shfl_sync` and the like, with masks of 64 bits; ROCm 7 and later always have them.
_OPTIONS = ("-std=c++20", "-O3", "-fPIC", "-x", "hip", "-DHIP_ENABLE_WARP_SYNC_BUILTINS")
_CUDA_NAMES = PACKAGE / "include"
"""CUDA's headers, which define its names in terms of HIP: searched after all of ROCm's own."""
_BOTH_HALVES_AT_ONCE = "-parallel-jobs=2"
"""Option of AMD's own clang; LLVM's, as distributions build it, lacks it."""
_VERSION = re.compile(r"HIP version: (\d+)\.(\d+)")


@dataclass(frozen=True)
class Rocm:
    """An installed ROCm."""

    folder: Path
    version_text: str
    options: tuple[str, ...] = ()
    """Options for this installation's compiler only."""

    @property
    def hipcc(self) -> str:
        """The compiler driver."""
        return str(self.folder / "bin" / "hipcc")

    @property
    def programs(self) -> Path:
        """Folder of LLVM's programs; older releases have only `llvm/bin` (ROCm/rocm-systems#5002)."""
        found = self.folder / "lib" / "llvm" / "bin"
        return found if found.is_dir() else self.folder / "llvm" / "bin"

    @property
    def version(self) -> tuple[int, int]:
        """HIP's version, which is ROCm's; (0, 0) if hipcc does not give one."""
        found = _VERSION.search(self.version_text)
        return (int(found[1]), int(found[2])) if found else (0, 0)


@cache
def rocm() -> Rocm:
    """Return ROCM_PATH's ROCm, or that of the hipcc on the path; raises ToolchainError if it is missing or too old."""
    hipcc = rocm_home() / "bin" / "hipcc"
    try:
        done = subprocess.run([hipcc, "--version"], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603  the compiler
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"no hipcc at {hipcc}; {_ADVICE}, or name its folder in ROCM_PATH") from error
    options = (_BOTH_HALVES_AT_ONCE,) if _takes(hipcc, _BOTH_HALVES_AT_ONCE) else ()
    found = Rocm(hipcc.resolve().parent.parent, done.stdout, options)
    if (0, 0) < found.version < OLDEST:
        raise ToolchainError(f"ROCm {'.'.join(map(str, found.version))} is too old; {_ADVICE}")
    return found


def _takes(hipcc: Path, option: str) -> bool:
    done = subprocess.run([hipcc, option, "--version"], capture_output=True, check=False, timeout=60)  # noqa: S603  the compiler
    return done.returncode == 0


def driver(architecture: str) -> Driver:
    """Return hipcc's command lines for one GPU architecture, e.g. `gfx942`."""
    hipcc, programs = rocm().hipcc, rocm().programs
    target = f"--offload-arch={architecture}"
    options = (*_OPTIONS, *rocm().options, target, "-idirafter", str(_CUDA_NAMES))
    return Driver(
        compile=(hipcc, *options, "-I", str(RUNNER)),
        link=(hipcc, target),
        # One ELF file: bundles may be compressed, and names could not be found in them.
        kernels=(hipcc, *options, "--genco", "--no-gpu-bundle-output"),
        assemble=(str(programs / "clang"), "-c"),
        hide_main=(str(programs / "llvm-objcopy"), "--localize-symbol=main"),
        # Not hipcc, which takes every .cpp for HIP.
        plain=(str(programs / "clang"), "-std=c++20", "-O3", "-fPIC", "-x", "c++"),
    )


def toolchain(architecture: str, recorder: str = "") -> Toolchain:
    """Return the compiler with our runner; `recorder` is the identity of the recorders' compiler."""
    digest = hashlib.sha256(f"{rocm().version_text} {driver(architecture)}".encode())
    for source in (*runner_sources(), *sorted(Path(__file__).parent.glob("*.py"))):
        digest.update(source.read_bytes())
    digest.update(recorder.encode())
    title = f"hipcc (ROCm {'.'.join(map(str, rocm().version))}) for {architecture}"
    return Toolchain(digest.hexdigest(), title, driver(architecture).shown())


def runner_folder(architecture: str) -> Path:
    """Return the folder of the runner's objects for this toolchain."""
    return cache_folder() / "rocm" / toolchain(architecture).identity[:16]
