"""The compiler for gfx942: the `cpu` device's clang with another target, and HIP's real headers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hipcpu import toolchain as cpu
from hipcpu.build_folder import ToolchainError
from services.executor.devices.gfx942 import hip_files
from services.executor.devices.gfx942.hip_files import HipFiles

PACKAGE = Path(__file__).parent
TRIPLE = "amdgcn-amd-amdhsa"
PROCESSOR = "gfx942"
SOURCE = "solution.hip"
CUDA_NAMES = cpu.PACKAGE / "include"
"""CUDA's headers, which only map its names to HIP's; as on `rocm`, they are searched after all others."""
_FIRST = PACKAGE / "include" / "first.h"
_WRAPPER = "__clang_hip_runtime_wrapper.h"
# The clang of ROCm 6 has these macros, and that of the ROCm 7 that counts here has not.
_ONLY_BEFORE_7 = ("-D__AMDGCN_WAVEFRONT_SIZE=64", "-D__AMDGCN_WAVEFRONT_SIZE__=64")
_LIBRARIES = ("hip", "ocml", "ockl")
_ANSWERS = (
    "daz_opt_off",
    "unsafe_math_off",
    "finite_only_off",
    "correctly_rounded_sqrt_on",
    "wavefrontsize64_on",
    "isa_version_942",
    "abi_version_500",
)
"""Modules of AMD's device library that answer its questions about the target and about hipcc's options."""


@dataclass(frozen=True)
class Prepared:
    """A release of HIP with the folder that `prepare` fills for it, which is read-only afterwards."""

    hip: HipFiles
    folder: Path

    @property
    def prelude(self) -> Path:
        """The precompiled `hip/hip_runtime.h`."""
        return self.folder / "prelude.pch"

    @property
    def complete(self) -> bool:
        """True if all parts are there."""
        return self.folder.is_dir()

    @property
    def title(self) -> str:
        """Title in one line."""
        return f"clang 22.1.8 (ziglang {cpu.compiler().version}) for {PROCESSOR}, {self.hip.title}"

    def clang(self, *options: str) -> list[str]:
        """Return a clang frontend command for a HIP source's kernels, as hipcc compiles them on `rocm`."""
        command = [cpu.compiler().program, "clang", "-cc1", *target_options(), "-O3", "-ferror-limit", "20"]
        # To look for the nearest name among all of C++'s takes seconds.
        command += ["-fno-spell-checking"]
        command += ["-mllvm", "-amdgpu-internalize-symbols", "-mllvm", "-amdgpu-early-inline-all=true"]
        command += ["-debug-info-kind=line-tables-only", "-dwarf-version=5", "-fskip-odr-check-in-gmf"]
        command += [*cpu.compiler().defines(), "-DHIP_ENABLE_WARP_SYNC_BUILTINS", "-nostdsysteminc", "-nobuiltininc"]
        command += _ONLY_BEFORE_7 if int(self.hip.version.split(".")[0]) < 7 else ()  # noqa: PLR2004  a release
        for folder in self.folders():
            command += ["-internal-isystem", str(folder)]
        return [*command, "-idirafter", str(CUDA_NAMES), *options]

    def folders(self) -> list[Path]:
        """Return the folders of headers in the order of their search."""
        wrappers = self.hip.wrappers
        return [wrappers / "cuda_wrappers", *cpu.compiler().system_headers(), wrappers, self.hip.headers]

    def start(self, *, precompiled: bool) -> list[str]:
        """Return the options that bring in what hipcc includes of itself, or with `precompiled` hip_runtime.h too."""
        if precompiled:
            return ["-include-pch", str(self.prelude)]
        return ["-include", str(_FIRST), "-include", _WRAPPER]

    def libraries(self) -> list[str]:
        """Return the options that link what the source uses of AMD's device library."""
        names = (*_LIBRARIES, *(f"oclc_{name}" for name in _ANSWERS))
        there = (self.hip.bitcode / f"{name}.bc" for name in names)
        return [word for path in there if path.is_file() for word in ("-mlink-builtin-bitcode", str(path))]


def target_options() -> list[str]:
    """Return the options that every use of clang for gfx942 shares: hipcc's defaults if they affect the code."""
    options = ["-triple", TRIPLE, "-target-cpu", PROCESSOR, "-aux-triple", cpu.TRIPLE, "-x", "hip", "-fcuda-is-device"]
    options += ["-fhip-new-launch-api", "-fcuda-allow-variadic-functions", "-std=c++20", "-fgnuc-version=4.2.1"]
    options += ["-ffp-contract=fast", "-fno-rounding-math", "-mcode-object-version=5", "-fdeclspec", "-disable-free"]
    options += ["-fcxx-exceptions", "-fexceptions"]
    return [*options, "-fvisibility=hidden", "-fapply-global-visibility-to-externs", "-cuid=wavepool"]


def clang_of_ir() -> list[str]:
    """Return a clang command that generates code from optimised IR."""
    options = ["-triple", TRIPLE, "-target-cpu", PROCESSOR, "-x", "ir", "-disable-llvm-passes"]
    return [cpu.compiler().program, "clang", "-cc1", *options]


def cache_folder() -> Path:
    """Return our folder in the cpu device's cache."""
    return cpu.cache_folder() / PROCESSOR


def releases(wanted: str = "") -> tuple[Prepared, ...]:
    """Return the releases of HIP here, first the one that counts: the `wanted` one, else ROCm's own, else the newest.

    Raises ToolchainError if there is none.
    """
    here = hip_files.find(cache_folder())
    counts = next((hip for hip in here if hip.is_of(wanted)), None)
    if counts is None:
        lacks = f"HIP's headers of release {wanted}" if here else "HIP's real headers"
        has = f"; it has those of {', '.join(hip.version for hip in here)}" if here else ""
        raise ToolchainError(f"this machine lacks {lacks}{has}; {hip_files.REMEDY}")
    return tuple(_prepared(hip, cache_folder()) for hip in (counts, *(hip for hip in here if hip != counts)))


@cache
def _prepared(hip: HipFiles, cache: Path) -> Prepared:
    digest = hashlib.sha256(f"{cpu.compiler().version} {cpu.compiler().folder} {hip.digest}".encode())
    own = (PACKAGE / "toolchain.py", PACKAGE / "prepare.py", *sorted((PACKAGE / "include").iterdir()))
    for source in (*own, *sorted(CUDA_NAMES.rglob("*.h"))):
        digest.update(str(source).encode() + b"\0" + source.read_bytes())
    return Prepared(hip, cache / f"compiled-{digest.hexdigest()[:16]}")


@cache
def steps_digest() -> str:
    """Return a digest of the report's steps, which are Python."""
    digest = hashlib.sha256()
    for source in (*sorted(PACKAGE.rglob("*.py")), *sorted((cpu.PACKAGE / "ir").rglob("*.py"))):
        digest.update(source.read_bytes())
    return digest.hexdigest()
