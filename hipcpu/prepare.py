"""Fill the toolchain cache: `python -m hipcpu.prepare`.

Builds what every submission shares, once per compiler and per edit of our headers and runtime: the static C and C++
libraries (about a minute and a half), the precompiled prelude of both passes, the runtime and the judge's library (a
few seconds). It is safe to run twice and in several processes at once: each part is built in a folder of its own and
then renamed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import TextIO

from hipcpu import toolchain
from hipcpu.build_folder import ToolchainError
from hipcpu.progress import shown

# A checkout that nobody has run for two weeks is rebuilt, in seconds.
_UNUSED_SECONDS = 14 * 86_400.0
_NOTED_SECONDS = 3_600.0
_BEGUN = ".begun-"
PRECOMPILED = ("-emit-pch", "-fno-pch-timestamp", "-fpch-instantiate-templates")
"""Options that make a precompiled header. Without the last one, what the headers use of their own templates would be
instantiated once per submission, in half of clang's time for it."""
_ROCM_CHANGES = (
    # rocPRIM compiles each kernel of a device-wide function once for each of a dozen GPUs, all empty but the one of the
    # target. Ours are those for an unknown GPU, whatever name the device has.
    ("rocprim/device/config_types.hpp", r"(target_(?:names|architectures)\[\] = \{[^,]*),.*?\};", r"\1};"),
    # Registers are not addressed by numbers here, so unrolled loops only take the compiler's time.
    ("rocprim/config.hpp", r'(define ROCPRIM_UNROLL) _Pragma\("unroll"\)', r"\1"),
)
# Uses the parts of libc++ that zig builds on demand.
_PROBE = "#include <iostream>\n#include <thread>\nint main() { std::thread([] { std::cout << 1; }).join(); }\n"


@dataclass(frozen=True)
class Part:
    """A folder of the cache, and how to fill it."""

    name: str
    folder: Path
    build: Callable[[Path], None]


def prepare(progress: TextIO | None = None) -> toolchain.Prepared:
    """Build the missing parts; raises ToolchainError with the compiler's messages if that fails."""
    prepared = toolchain.prepared()
    parts = (
        Part("C and C++ libraries (one to three minutes)", prepared.libraries, _build_libraries),
        # A precompiled header names its inputs, so the headers must be in their final place before it is made.
        Part("headers", prepared.include, _copy_headers),
        Part("runtime and precompiled headers", prepared.device, _build_device),
        *_rocm_parts(prepared),
    )
    build_parts("cpu compiler", parts, progress)
    forget_unused(prepared.device.parent, set(prepared.parts))
    return prepared


def refresh() -> toolchain.Prepared:
    """Rebuild the quick parts if our sources have changed; raises ToolchainError if `prepare` never ran."""
    prepared = toolchain.prepared()
    if prepared.complete:
        for folder in prepared.parts[1:]:
            with contextlib.suppress(OSError):
                _note_use(folder)
        return prepared
    if missing := toolchain.missing():
        raise ToolchainError(missing)
    return prepare()


def _note_use(folder: Path) -> None:
    """Set the folder's time, at most once an hour: every run calls this, and a busy disk may delay the write."""
    if time.time() - folder.stat().st_mtime > _NOTED_SECONDS:
        os.utime(folder)


def forget_unused(parent: Path, in_use: Collection[Path]) -> None:
    """Remove long unused parts that were built from other versions of our sources; every edit makes new ones."""
    for folder in (*parent.glob("include-*"), *parent.glob("device-*"), *parent.glob("rocm-*")):
        with contextlib.suppress(OSError):
            if folder not in in_use and time.time() - folder.stat().st_mtime > _UNUSED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True) if folder.is_dir() else folder.unlink()


def build_parts(title: str, parts: Sequence[Part], progress: TextIO | None) -> None:
    """Build the parts that are missing, in order, and show each on `progress` with its number and time."""
    missing = [part for part in parts if not part.folder.is_dir()]
    for number, part in enumerate(missing, 1):
        step = f"{title} [{number}/{len(missing)}] {part.name}"
        with shown(step, lambda: f"{_compiled_files(part.folder)} files compiled", progress):  # noqa: B023  used in it
            build_once(part.folder, part.build)


def _compiled_files(folder: Path) -> int:
    begun = folder.parent.glob(f"{folder.name}{_BEGUN}*")
    return sum(name.endswith(".o") for work in begun for _, _, names in os.walk(work) for name in names)


def build_once(folder: Path, build: Callable[[Path], None]) -> None:
    """Let `build` fill `folder`, unless it exists; it appears whole or not at all."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if folder.is_dir():
            return
        # Nobody else builds it now: what was begun belongs to a process that was killed.
        for begun in folder.parent.glob(f"{folder.name}{_BEGUN}*"):
            shutil.rmtree(begun, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}{_BEGUN}") as name:
            new = Path(name) / "new"
            new.mkdir()
            build(new)
            # Copies have their originals' times, by which unused builds are found.
            os.utime(new)
            new.rename(folder)


def _build_libraries(folder: Path) -> None:
    """Make zig build its libraries by linking a probe, and keep those that the link used."""
    work = folder.parent / "work"
    work.mkdir()
    (work / "probe.cpp").write_text(_PROBE)
    command = [toolchain.compiler().program, "c++", "-target", "x86_64-linux-musl", "-O2", "-static", "probe.cpp"]
    environment = {**os.environ, "ZIG_VERBOSE_LINK": "1", "ZIG_GLOBAL_CACHE_DIR": "zig", "ZIG_LOCAL_CACHE_DIR": "zig"}
    log = run_tool([*command, "-o", "probe"], work, environment)
    for word in _link_inputs(log):
        shutil.copy(work / word, folder)
    if not (folder / "crt1.o").is_file() or not (folder / "libc.a").is_file():
        raise ToolchainError(f"ziglang built no C library:\n{log[-2000:]}")


def _link_inputs(log: str) -> list[str]:
    links = [line for line in log.splitlines() if line.startswith("ld.lld ") and "probe" in line]
    words = links[-1].split() if links else []
    return [word for word in words if word.endswith((".a", "crt1.o"))]


def _copy_headers(folder: Path) -> None:
    shutil.copytree(toolchain.PACKAGE / "include", folder, dirs_exist_ok=True)


def _rocm_parts(prepared: toolchain.Prepared) -> list[Part]:
    if prepared.rocm_headers is None or prepared.rocm_preludes is None:
        return []
    return [
        Part("ROCm's hipCUB, rocPRIM and Thrust", prepared.rocm_headers, _copy_rocm_headers),
        Part("their precompiled headers (half a minute)", prepared.rocm_preludes, _precompile_rocm),
    ]


def _copy_rocm_headers(folder: Path) -> None:
    for name in toolchain.ROCM_LIBRARIES:
        shutil.copytree(toolchain.fetched_rocm() / name, folder / name)
    for name, found, instead in _ROCM_CHANGES:
        # A release without the file does not compile with our headers, which `_precompile_rocm` finds.
        if (header := folder / name).is_file():
            header.write_text(re.sub(found, instead, header.read_text(), flags=re.DOTALL))


def _precompile_rocm(folder: Path) -> None:
    """Precompile the libraries on top of the preludes; a release that our headers cannot serve leaves its reason."""
    prepared = toolchain.prepared()
    try:
        for kernels in (False, True):
            prelude = prepared.prelude(kernels=kernels)
            options = ("-include-pch", str(prelude))
            _precompile(
                folder / prelude.name, "rocm_prelude.h", *options, kernels=kernels, first=prepared.rocm_options()
            )
    except ToolchainError as error:
        for made in folder.glob("*.pch"):
            made.unlink()
        (folder / toolchain.REFUSED).write_text(str(error))


def _build_device(folder: Path) -> None:
    for part in ("runtime", "runner", "recorder"):
        (folder / part).mkdir()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        steps = [pool.submit(_compile, source, folder / "runtime") for source in _runtime_sources()]
        steps += [pool.submit(_compile, source, folder / "runner") for source in toolchain.runner_sources()]
        steps += [pool.submit(_compile, source, folder / "recorder") for source in _recorder_sources()]
        preludes = {kernels: folder / toolchain.prepared().prelude(kernels=kernels).name for kernels in (False, True)}
        steps += [pool.submit(_precompile, made, "prelude.h", kernels=kernels) for kernels, made in preludes.items()]
        steps.append(pool.submit(_build_judge_library, folder))
        for step in steps:
            step.result()


def _runtime_sources() -> list[Path]:
    return sorted({*(toolchain.PACKAGE / "runtime").rglob("*.cpp")} - {*_recorder_sources()})


def _recorder_sources() -> list[Path]:
    return sorted((toolchain.PACKAGE / "runtime" / "recorder").glob("*.cpp"))


def _compile(source: Path, folder: Path) -> None:
    options = ("-x", "c++", "-emit-obj", str(source), "-o", str(folder / f"{source.stem}.o"))
    # As the judge's library: AVX2, with fused multiply-adds.
    processor = ("-target-cpu", "x86-64-v3") if source.parent.name == "matrix" else ()
    run_tool(toolchain.compiler().clang(toolchain.prepared().include, *processor, *options))


def _build_judge_library(folder: Path) -> None:
    """Build for AVX2, which halves the time for integers, and without fused operations, so that bits do not vary."""
    built = folder / toolchain.prepared().judge_library.name
    options = ("-O3", "-target-cpu", "x86-64-v3", "-ffp-contract=off", "-mrelocation-model", "pic", "-pic-level", "2")
    with tempfile.TemporaryDirectory() as name:
        compiled = Path(name) / "judge.o"
        command = (
            *options,
            "-vectorize-loops",
            "-x",
            "c++",
            "-emit-obj",
            str(toolchain.JUDGE_SOURCE),
            "-o",
            str(compiled),
        )
        run_tool(toolchain.compiler().clang(toolchain.prepared().include, *command))
        linker = (toolchain.compiler().program, "ld.lld", "-shared", "-m", "elf_x86_64", "--strip-debug")
        run_tool([*linker, "-o", str(built), str(compiled)])


def _precompile(target: Path, header: str, *options: str, kernels: bool, first: Sequence[str] = ()) -> None:
    include = toolchain.prepared().include
    words = (*PRECOMPILED, *options, str(include / "wavepool" / header), "-o", str(target))
    run_tool(toolchain.compiler().hip(include, *words, kernels=kernels, first=first))


def run_tool(command: Sequence[str], folder: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """Run a command of ours and return its stderr; raises ToolchainError with it if the command fails."""
    done = subprocess.run(  # noqa: S603 - our own compiler on our own sources
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ToolchainError(f"{' '.join(command[:3])} failed with {done.returncode}:\n{done.stderr[-4000:]}")
    return done.stderr


def main() -> int:
    """Prepare, and print the folder; returns the exit status."""
    try:
        prepared = prepare(sys.stderr)
    except ToolchainError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command-line program
        return 1
    print(f"cpu toolchain ready: {prepared.device}")  # noqa: T201 - a command-line program
    return 0


if __name__ == "__main__":
    sys.exit(main())
