"""Paths of the `cpu` device's compiler, headers and prebuilt parts, and the compiler options that all uses share."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hipcpu.build_folder import ToolchainError

PACKAGE = Path(__file__).parent
ROCM_LIBRARIES = ("hipcub", "rocprim", "thrust")
"""The libraries that are taken from ROCm, by their folders of headers."""
REFUSED = "refused.txt"
TRIPLE = "x86_64-unknown-linux-musl"

# Set by zig's own driver for its copy of libc++ on musl.
_LIBCXX_DEFINES = (
    "_LIBCPP_ABI_VERSION=1",
    "_LIBCPP_ABI_NAMESPACE=__1",
    "_LIBCPP_HAS_THREADS=1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK",
    "_LIBCPP_HAS_TERMINAL",
    "_LIBCPP_HAS_MUSL_LIBC=1",
    "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1",
    "_LIBCPP_HAS_RANDOM_DEVICE",
    "_LIBCPP_HAS_LOCALIZATION",
    "_LIBCPP_HAS_UNICODE",
    "_LIBCPP_HAS_WIDE_CHARACTERS",
    "_LIBCPP_HAS_NO_STD_MODULES",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE",
    "_LIBCPP_PSTL_BACKEND_SERIAL",
    "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
)

_SYSTEM_HEADERS = (
    "libcxx/include",
    "libcxxabi/include",
    "include",
    "libc/include/x86_64-linux-musl",
    "libc/include/generic-musl",
    "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)


@dataclass(frozen=True)
class Compiler:
    """The `ziglang` wheel: clang, lld and the C and C++ libraries' sources and headers."""

    folder: Path
    version: str

    @property
    def program(self) -> str:
        """Path of the one program that contains clang and lld."""
        return str(self.folder / "zig")

    def clang(self, include: Path, *options: str, first: Sequence[str] = ()) -> list[str]:
        """Return a clang frontend command for C++20 with our headers in `include` and the wheel's libc++ and musl.

        `first` are options for headers that are searched before ours.
        """
        command = [self.program, "clang", "-cc1", "-triple", TRIPLE, "-std=c++20", "-O2", "-target-cpu", "x86-64"]
        command += ["-mrelocation-model", "static", "-mframe-pointer=none", "-funwind-tables=2", "-fgnuc-version=4.2.1"]
        command += ["-fcxx-exceptions", "-fexceptions", "-fno-rounding-math", "-mconstructor-aliases", "-fdeclspec"]
        command += ["-fskip-odr-check-in-gmf", "-faddrsig", "-disable-free", *first, *self.headers(include)]
        return [*command, *options]

    def headers(self, include: Path) -> list[str]:
        """Return options that find our headers in `include` and those of libc++ and musl, for any target of clang."""
        options = ["-nostdsysteminc", "-nobuiltininc", "-I", str(include)]
        for folder in self.system_headers():
            options += ["-isystem", str(folder)]
        return [*options, *self.defines()]

    def system_headers(self) -> list[Path]:
        """Return the folders of the headers of libc++, clang and musl, in the order of their search."""
        return [self.folder / "lib" / folder for folder in _SYSTEM_HEADERS]

    def defines(self) -> list[str]:
        """Return the options that define what libc++ and HIP's headers ask for."""
        names = (*_LIBCXX_DEFINES, "_GNU_SOURCE=1", "__HIP_PLATFORM_AMD__=1")
        return [word for name in names for word in ("-D", name)]

    def without_folders(self, messages: str, include: Path) -> str:
        """Return messages that name headers as people include them, `hip/hip_fp16.h:3:1`, without their folders."""
        folders = [include, *(self.folder / "lib" / folder for folder in _SYSTEM_HEADERS), self.folder]
        for folder in folders:
            messages = messages.replace(f"{folder}/", "")
        return messages

    def hip(self, include: Path, *options: str, kernels: bool, first: Sequence[str] = ()) -> list[str]:
        """Return a clang frontend command for one pass over HIP: the kernels, or the host side with its launch stubs.

        Both sides are compiled for the host's own architecture, and unoptimised, because the join reads clang's raw
        output.
        """
        command = self.clang(include, "-aux-triple", TRIPLE, "-x", "hip", "-disable-llvm-passes", first=first)
        command += ["-ferror-limit", "20", "-fhip-new-launch-api", "-fcuda-allow-variadic-functions", "-cuid=wavepool"]
        # How x86-64 passes wide vectors is nothing to an author: both ends of each call are compiled here.
        command += ["-Wno-psabi"]
        # rocWMMA makes its types arithmetic by std::is_arithmetic; the library of hipcc has no objection.
        command += ["-Wno-invalid-specialization"]
        # Lanes may pass a value to a shuffle that they never set, since only another lane's is read.
        device = ["-fcuda-is-device", "-no-enable-noundef-analysis"]
        return [*command, *(device if kernels else []), *options]

    def shown_kernel_pass(self, source: str) -> str:
        """Return the pass over the kernels of `source` for people, without the folders and macros of the C++ library.

        LLVM optimises what it leaves, joined with the host side's, at -O2 for the processor of the machine.
        """
        usual = self.headers(Path())
        _, *words = self.hip(Path(), source, kernels=True)
        at = words.index(usual[0])
        return shlex.join(["zig", *words[:at], *words[at + len(usual) :]])


@dataclass(frozen=True)
class Prepared:
    """Parts that `prepare` leaves in the cache; they are read-only afterwards."""

    libraries: Path
    """Folder of crt1.o and the static C and C++ libraries."""
    include: Path
    """Folder of our headers, copied so that precompiled headers stay valid if the checkout changes."""
    device: Path
    """Folder of the passes' precompiled preludes, our runtime, the core's runner and its judge's library."""
    rocm_headers: Path | None = None
    """Folder of ROCm's own headers of hipCUB, rocPRIM and Thrust; None if this machine has none."""
    rocm_preludes: Path | None = None
    """Folder of the preludes with these headers, or of `REFUSED` if they do not compile with ours."""

    def prelude(self, *, kernels: bool, with_rocm: bool = False) -> Path:
        """Return the precompiled prelude of a pass; `with_rocm`, one with ROCm's libraries in it."""
        folder = self.rocm_preludes if with_rocm and self.rocm_preludes else self.device
        return folder / ("kernels.pch" if kernels else "host.pch")

    @property
    def why_no_rocm(self) -> str:
        """Why sources cannot use ROCm's own libraries of headers; empty if they can."""
        if self.rocm_preludes is None:
            fetch = "python -m services.executor.devices.gfx942.prepare --fetch"
            return f"ROCm's headers are not on this machine, and `{fetch}` brings them"
        refused = (self.rocm_preludes / REFUSED).is_file()
        return "this machine's release of ROCm's headers does not compile for the cpu device" if refused else ""

    def rocm_options(self) -> list[str]:
        """Return the options that find ROCm's headers before ours, and show none of their warnings."""
        prefixes = (f"--system-header-prefix={name}/" for name in ROCM_LIBRARIES)
        return ["-I", str(self.rocm_headers), *prefixes]

    @property
    def judge_library(self) -> Path:
        """Library that the core's judges load: `chain_arithmetic.cpp`, compiled."""
        return self.device / "judge.so"

    @property
    def complete(self) -> bool:
        """True if all parts are there; each appears whole or not at all."""
        return all(part.is_dir() for part in self.parts)

    @property
    def parts(self) -> list[Path]:
        """The folders; the names of all but the first change with their contents."""
        folders = (self.libraries, self.include, self.device, self.rocm_headers, self.rocm_preludes)
        return [folder for folder in folders if folder is not None]


@cache
def compiler() -> Compiler:
    """Return the compiler; raises ToolchainError without the `cpu` extra, or on a machine other than x86-64 Linux."""
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        raise ToolchainError(f"the cpu device needs x86-64 Linux; this is {platform.machine()} {platform.system()}")
    code_generator_folder()
    return Compiler(_package_folder("ziglang"), importlib.metadata.version("ziglang"))


def code_generator_folder() -> Path:
    """Return the folder of llvmlite, which turns IR into machine code; raises ToolchainError."""
    return _package_folder("llvmlite")


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ToolchainError("the cpu device's compiler is not installed; run `uv sync --extra cpu`")
    return Path(spec.origin).parent


def cache_folder() -> Path:
    """Return WAVEPOOL_CACHE_DIR, or ~/.cache/wavepool."""
    named = os.environ.get("WAVEPOOL_CACHE_DIR")
    return Path(named) if named else Path.home() / ".cache" / "wavepool"


def fetched_rocm() -> Path:
    """Return the folder into which `services.executor.devices.gfx942.prepare` unpacks HIP 7 and its libraries.

    Those of HIP 6 do not compile with our headers.
    """
    return cache_folder() / "gfx942" / "hip-7" / "usr" / "include"


CORE = PACKAGE.parent / "services" / "executor" / "core"
"""Source folder of the core, whose runner and judge's library are compiled here, once for all submissions."""
JUDGE_SOURCE = CORE / "check" / "chain_arithmetic.cpp"


def runner_sources() -> list[Path]:
    """Return the sources of the core's runner program, which is linked into every SOLUTION."""
    return sorted((CORE / "runner").glob("*.cpp"))


def prepared() -> Prepared:
    """Return the paths that `prepare` uses for this compiler and these sources; they may not exist yet."""
    return _prepared_in(cache_folder() / "cpu")


def missing() -> str:
    """Return what is missing before kernels can be compiled, with the remedy; empty if nothing that takes minutes."""
    try:
        there = prepared().libraries.is_dir()
    except ToolchainError as error:
        return str(error)
    return "" if there else "the cpu toolchain is not prepared; run `python -m hipcpu.prepare`"


@cache
def _prepared_in(folder: Path) -> Prepared:
    zig = compiler()
    digest = hashlib.sha256(f"{zig.version} {zig.folder}".encode())
    for source in _own_sources():
        digest.update(str(source.relative_to(PACKAGE.parent)).encode() + b"\0" + source.read_bytes())
    key = digest.hexdigest()[:16]
    parts = (folder / f"libraries-{zig.version}", folder / f"include-{key}", folder / f"device-{key}")
    found = fetched_rocm()
    if not all((found / name).is_dir() for name in ROCM_LIBRARIES):
        return Prepared(*parts)
    for source in sorted(found.glob("*/*version*")):
        digest.update(source.read_bytes())
    rocm_key = digest.hexdigest()[:16]
    return Prepared(*parts, folder / f"rocm-headers-{rocm_key}", folder / f"rocm-{rocm_key}")


@cache
def steps_digest() -> str:
    """Return a digest of the build's steps, which are Python."""
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _own_sources() -> list[Path]:
    ours = [path for part in ("include", "runtime") for path in sorted((PACKAGE / part).rglob("*")) if path.is_file()]
    steps = [PACKAGE / "toolchain.py", PACKAGE / "prepare.py"]
    runner = sorted(path for path in (CORE / "runner").glob("*") if path.suffix in {".cpp", ".h", ".hpp"})
    return [*ours, *steps, *runner, JUDGE_SOURCE]
