"""The compiler for gfx942: the `cpu` device's clang with another target, and its files in the cache."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hipcpu import toolchain as cpu
from services.executor.devices.gfx942 import device_library

PACKAGE = Path(__file__).parent
TRIPLE = "amdgcn-amd-amdhsa"
PROCESSOR = "gfx942"
SOURCE = "solution.hip"


@dataclass(frozen=True)
class Prepared:
    """Files that `prepare` leaves in the cache; they are read-only afterwards."""

    include: Path
    """Our headers for the cpu device, overlaid with those of gfx942."""
    compiled: Path
    """Folder with the precompiled prelude and the mathematics."""
    library: str
    """Title of the device library behind the mathematics; empty if its functions are counted as calls."""

    @property
    def prelude(self) -> Path:
        """The precompiled prelude."""
        return self.compiled / "prelude.pch"

    @property
    def mathematics(self) -> Path:
        """Bitcode that defines the functions of <math.h>."""
        return self.compiled / "mathematics.bc"

    @property
    def complete(self) -> bool:
        """True if all parts are there."""
        return self.include.is_dir() and self.compiled.is_dir()

    @property
    def title(self) -> str:
        """Title in one line."""
        functions = self.library or "no device library"
        return f"clang 22.1.8 (ziglang {cpu.compiler().version}) for {PROCESSOR}, {functions}"


def target_options() -> list[str]:
    """Return the options that every use of clang for gfx942 shares: hipcc's defaults if they affect the code."""
    options = ["-triple", TRIPLE, "-target-cpu", PROCESSOR, "-aux-triple", cpu.TRIPLE, "-x", "hip", "-fcuda-is-device"]
    options += ["-fhip-new-launch-api", "-fcuda-allow-variadic-functions", "-std=c++20", "-fgnuc-version=4.2.1"]
    options += ["-ffp-contract=fast", "-fno-rounding-math", "-mcode-object-version=5", "-fdeclspec", "-disable-free"]
    return [*options, "-fvisibility=hidden", "-fapply-global-visibility-to-externs", "-cuid=wavepool"]


def clang(include: Path, *options: str) -> list[str]:
    """Return a clang frontend command for a HIP source's kernels, with source lines and hipcc's optimisations.

    Functions of <math.h> stay calls (`-fmath-errno`), so that those of `mathematics` take their place.
    """
    command = [cpu.compiler().program, "clang", "-cc1", *target_options(), "-O3", "-fmath-errno", "-ferror-limit", "20"]
    command += ["-mllvm", "-amdgpu-internalize-symbols", "-mllvm", "-amdgpu-early-inline-all=true"]
    command += ["-debug-info-kind=line-tables-only", "-dwarf-version=5", "-fskip-odr-check-in-gmf"]
    return [*command, *cpu.compiler().headers(include), *options]


def clang_of_ir() -> list[str]:
    """Return a clang command that generates code from optimised IR."""
    options = ["-triple", TRIPLE, "-target-cpu", PROCESSOR, "-x", "ir", "-disable-llvm-passes"]
    return [cpu.compiler().program, "clang", "-cc1", *options]


def cache_folder() -> Path:
    """Return our folder in the cpu device's cache."""
    return cpu.cache_folder() / PROCESSOR


@cache
def prepared() -> Prepared:
    """Return the paths that `prepare` uses for this compiler, these sources and this device library."""
    library = device_library.find(cache_folder())
    digest = hashlib.sha256(f"{cpu.compiler().version} {cpu.compiler().folder}".encode())
    for source in _own_sources():
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    headers = digest.hexdigest()[:16]
    digest.update((library.digest if library else "none").encode())
    key = digest.hexdigest()[:16]
    folder = cache_folder()
    return Prepared(folder / f"include-{headers}", folder / f"compiled-{key}", library.title if library else "")


@cache
def steps_digest() -> str:
    """Return a digest of the report's steps, which are Python."""
    digest = hashlib.sha256()
    for source in (*sorted(PACKAGE.rglob("*.py")), *sorted((cpu.PACKAGE / "ir").rglob("*.py"))):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _own_sources() -> list[Path]:
    folders = (cpu.PACKAGE / "include", PACKAGE / "include", PACKAGE / "math")
    ours = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return [*ours, PACKAGE / "toolchain.py", PACKAGE / "prepare.py"]
