"""The core's runner, compiled once per GPU toolchain and kept in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hipcpu.prepare import build_once, run_tool

RUNNER = Path(__file__).parents[2] / "core" / "runner"


def runner_sources() -> list[Path]:
    """Return the runner's sources and headers, for identities."""
    return sorted(path for path in RUNNER.glob("*") if path.suffix in {".cpp", ".hpp", ".h"})


def compile_runner(folder: Path, compiler: Sequence[str]) -> list[Path]:
    """Return the objects in `folder`, compiled if necessary; raises ToolchainError with the compiler's messages."""
    build_once(folder, lambda new: _compile_all(new, compiler))
    return sorted(folder.glob("*.o"))


def _compile_all(folder: Path, compiler: Sequence[str]) -> None:
    sources = [path for path in runner_sources() if path.suffix == ".cpp"]
    with ThreadPoolExecutor() as pool:
        commands = [[*compiler, "-c", str(path), "-o", str(folder / f"{path.stem}.o")] for path in sources]
        for done in [pool.submit(run_tool, command) for command in commands]:
            done.result()
