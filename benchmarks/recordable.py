"""Counts the references and honest kernels that our own runner can launch: `python -m benchmarks.recordable`.

Each source is built for the `cpu` device, with `--device rocm` by hipcc for an MI300X, or with `--device nvidia` by
nvcc for an H100 (no GPU is needed), and recorded for its public cases. Sources that do not compile or cannot be
recorded are listed with the reason and the line. For GPUs these include sources that ask for the GPU's properties, as
none is asked here. On `cpu` the exit status is 1 if anything is listed except the kernels that
tests/honest/not_recordable.toml names, or if one of these can be recorded. `ROCM_PATH=.cache/rocm6/usr` has the hipcc
of `.ci/rocm`.

With `--benchmark` each source is benchmarked on `cpu` instead, and those are listed that are not ACCEPTED, or whose
time is not VALID; on a quiet machine these are only the ones that cannot be recorded.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from services.executor.core.launching.recording import NotRecordableError
from services.executor.core.model.failure import Failure
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import Options, default_cache_folder, open_context
from services.executor.core.run.one_run import run
from services.executor.core.run.recorded import recorded
from services.executor.core.timing.benchmark_result import Timing
from services.executor.devices.nvidia.gpu import Gpu as NvidiaGpu
from services.executor.devices.nvidia.nvidia_device import NvidiaDevice
from services.executor.devices.rocm.gpu import Gpu as RocmGpu
from services.executor.devices.rocm.rocm_device import RocmDevice
from submissions.modes import Mode

_ROOT = Path(__file__).parents[1]
_MARK = "// problem: "
_HOPPER = NvidiaGpu(0, "H100", "9.0", 80_000, 132)
_MI300X = RocmGpu("AMD Instinct MI300X", "gfx942", 196_592, 304, "/dev/dri/renderD128")
_ABSENT = {"nvidia": NvidiaDevice(_HOPPER), "rocm": RocmDevice(_MI300X)}


def sources() -> Iterator[tuple[str, str, Path]]:
    """The kind, problem and path of each source."""
    for path in sorted(_ROOT.glob("problems/catalogue/*/solution.hip")):
        yield "reference", path.parent.name, path
    for path in sorted(_ROOT.glob("tests/honest/*.hip")):
        yield "honest kernel", path.read_text("utf-8").partition("\n")[0].removeprefix(_MARK), path


async def _reason(slug: str, source: str, context: RunContext) -> str:
    """Why a source cannot be recorded; empty if it can."""
    problem = context.find_problem(slug)
    try:
        found = await recorded(source, problem, problem.sizes.cpu, context)
    except Failure as failure:
        return f"{failure.verdict}: {failure.message}"
    reasons = Counter(str(one) for one in found if isinstance(one, NotRecordableError))
    return "; ".join(reasons)


async def _shortcoming(slug: str, source: str, context: RunContext) -> str:
    """Why a benchmark of a source is not ACCEPTED with a VALID time; empty if it is."""
    finished = await run(CoreJob(source, Mode.BENCHMARK, slug), context, lambda _: None)
    if finished.verdict is not Verdict.ACCEPTED or finished.benchmarked is None:
        return f"{finished.verdict}: {finished.message}"
    reasons = {result.unproven_because for result in finished.benchmarked.results} - {""}
    timing = finished.benchmarked.timing
    return "" if timing is Timing.VALID else f"{timing}: {'; '.join(sorted(reasons))}"


async def _main(names: list[str], device: str, *, benchmarks: bool) -> int:
    context = await open_context(Options("cpu", "auto", default_cache_folder(), 4096))
    if device in _ABSENT:
        context = replace(context, device=_ABSENT[device])
    expected = tomllib.loads((_ROOT / "tests/honest/not_recordable.toml").read_text("utf-8"))
    counts: Counter[tuple[str, bool]] = Counter()
    unexpected: list[str] = []
    for kind, slug, path in sources():
        name = slug if kind == "reference" else path.stem
        if names and name not in names:
            continue
        reason = await (_shortcoming if benchmarks else _reason)(slug, path.read_text("utf-8"), context)
        counts[kind, not reason] += 1
        if reason:
            print(f"{kind} {name}: {reason}", flush=True)
        if bool(reason) != (name in expected) or expected.get(name, "") not in reason:
            unexpected.append(name)
    right = "have a VALID time" if benchmarks else "can be recorded"
    for kind in ("reference", "honest kernel"):
        print(f"{kind}s that {right}: {counts[kind, True]} of {counts[kind, True] + counts[kind, False]}")
    if unexpected and device not in _ABSENT:
        print(f"otherwise than tests/honest/not_recordable.toml says: {', '.join(unexpected)}")
        return 1
    return 0


def main() -> int:
    """Counts the sources, and lists those that cannot be recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="slugs and names of honest kernels; all if none is given")
    parser.add_argument("--device", choices=["cpu", *_ABSENT], default="cpu")
    parser.add_argument("--benchmark", action="store_true", help="benchmark them on `cpu`")
    chosen = parser.parse_args()
    if chosen.benchmark and chosen.device != "cpu":
        parser.error("--benchmark needs `--device cpu`")
    return asyncio.run(_main(chosen.names, chosen.device, benchmarks=chosen.benchmark))


if __name__ == "__main__":
    sys.exit(main())
