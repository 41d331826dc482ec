"""Compares our compile stage with the bare compiler, on the same files: `python benchmarks/compile.py [file...]`.

- bare: clang's two passes over the file (host side and kernels, each to an object at -O2, headers parsed from text) and
  the link, one after the other, as compiler drivers do; no sandbox, no checks, no harness.
- ours, cold: the whole compile stage of a run with an empty cache: a sandbox, both passes, the join of the two sides,
  the harness, the link and the checks.
- ours, hit: the same stage when the build is in the cache.

Goals: cold at most 1.1 times bare; a hit at most 10 ms. The exit status is 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from hipcpu import toolchain
from hipcpu.build_folder import BuildKind
from hipcpu.prepare import prepare
from problems.library.catalogue import Catalogue
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.compile.harness import expected_declaration, harness_source
from services.executor.core.model.limits import StageLimits
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Sandbox

_SLUGS = ("leaky-relu", "matrix-multiplication", "softmax", "histogram", "layer-norm")
# The headers that clang's own wrapper for HIP includes before every file, as far as our headers need them.
_WRAPPER = """#include <__new/global_new_delete.h>
#pragma clang force_cuda_host_device begin
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#pragma clang force_cuda_host_device end
#include <hip/hip_runtime.h>
"""
_COLD_RATIO_GOAL, _HIT_MS_GOAL = 1.1, 10.0


async def main() -> int:
    """Prints the table; the exit status is 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("slugs", nargs="*", default=_SLUGS, help="problems, whose solution.hip is compiled")
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    prepare()
    sandbox = await choose_sandbox("auto")
    print(f"sandbox: {sandbox.name}; {chosen.repeats} repeats in turn; medians\n")
    print(f"{'file':<28}{'bare ms':>10}{'cold ms':>10}{'ratio':>8}{'hit ms':>10}")
    rows = [await _row(slug, sandbox, chosen.repeats) for slug in chosen.slugs]
    cold_ratio, hit_ms = median(ratio for ratio, _ in rows), max(hit for _, hit in rows)
    print(f"\ncold over bare: {cold_ratio:.2f} (goal at most {_COLD_RATIO_GOAL})")
    print(f"slowest hit: {hit_ms:.1f} ms (goal at most {_HIT_MS_GOAL:g})")
    return int(cold_ratio > _COLD_RATIO_GOAL or hit_ms > _HIT_MS_GOAL)


async def _row(slug: str, sandbox: Sandbox, repeats: int) -> tuple[float, float]:
    entry = Catalogue.load().get(slug)
    parameters = entry.problem.parameters
    unit = Unit(BuildKind.SOLUTION, entry.solution, harness_source(parameters), expected_declaration(parameters))
    bare: list[float] = []
    cold: list[float] = []
    hit: list[float] = []
    for _ in range(repeats):
        bare.append(_bare_ms(entry.solution))
        with tempfile.TemporaryDirectory() as cache:
            cold.append(await _ours_ms(unit, sandbox, Path(cache)))
            hit.append(await _ours_ms(unit, sandbox, Path(cache)))
    ratio = median(ours / theirs for ours, theirs in zip(cold, bare, strict=True))
    print(f"{slug:<28}{median(bare):>10.0f}{median(cold):>10.0f}{ratio:>8.2f}{median(hit):>10.1f}")
    return ratio, median(hit)


def _bare_ms(source: str) -> float:
    prepared, zig = toolchain.prepared(), toolchain.compiler()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "solution.hip").write_text(source)
        (folder / "wrapper.h").write_text(_WRAPPER)
        begin = time.perf_counter()
        for kernels in (False, True):
            command = zig.hip(prepared.include, "-include", "wrapper.h", "-emit-obj", "solution.hip", kernels=kernels)
            command = [word for word in command if word != "-disable-llvm-passes"]
            subprocess.run([*command, "-o", f"{int(kernels)}.o"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        link = [zig.program, "ld.lld", "-r", "-o", "whole.o", "0.o", "1.o", "--allow-multiple-definition"]
        subprocess.run(link, cwd=folder, check=True)
        return (time.perf_counter() - begin) * 1e3


async def _ours_ms(unit: Unit, sandbox: Sandbox, cache: Path) -> float:
    builds = CompileCache(cache, 1 << 30)
    builder = Builder(CpuDevice(), sandbox, builds, StageLimits().builder)
    folder = Path(tempfile.mkdtemp())
    try:
        for name in ("compile", "run"):
            (folder / name).mkdir(mode=0o755)
        begin = time.perf_counter()
        await builder.build(unit, folder / "compile", folder / "run")
        return (time.perf_counter() - begin) * 1e3
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
