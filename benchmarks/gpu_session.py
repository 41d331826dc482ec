"""What a submission at GPU sizes costs its host: CPU seconds, bytes copied and memory, for every problem.

`python benchmarks/gpu_session.py` measures one call of each problem as the judge makes it today: inputs are drawn and
copied, outputs are copied back and compared with the fp64 reference. It is measured at the largest `cpu` size, in CPU
seconds of this machine, and scaled by bytes to the GPU sizes:

    call s      = CPU s at the `cpu` size * bytes at the GPU size / bytes at the `cpu` size
    calls       = 2 to check
                  + 3 sessions * (warm-up: 10, or what fits into 2 s; samples: 100, or what fits into 60 s, at least 10)
                  + chains: 3, or what fits into 20 s, at least 1; each draws once and checks 32 links, or 9 of 32 where
                    the outputs of all take more than 64 MiB
    CPU s       = sum over the GPU cases of calls * call s: all of it, one after the other, on one core
    kernel s    = sum over the GPU cases of calls * max(floor, bytes / bandwidth, operations / peak) on an MI300X
    wall s      = CPU s + kernel s, as the judge has one thread

Scaling by bytes is too kind to references whose work grows faster than their data. Products that are checked by their
factors at GPU sizes are measured so. Memory is the most that numpy held during the call, scaled alike. The aims are for
the whole submission: 60 CPU s at the median problem; 30 s of wall time at the median and 90 s at the worst.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from problems.freivalds import check_product
from services.executor.core.case_judge import WHOLLY_COMPARED_FLOPS, CaseJudge
from services.executor.core.case_result import work_of
from services.executor.core.chain import GPU_CHAINS
from services.executor.core.installation import catalogue
from services.executor.core.roofline import floor_of, peak_of, roofs_of
from services.executor.core.seeds import RunSeed
from services.executor.core.stopping import GPU_PROFILE

if TYPE_CHECKING:
    from problems.definition import Case, Problem
    from services.executor.core.roofline import Roofs

CHECK_CALLS = 2
AIM_CPU_SECONDS, AIM_MEDIAN_SECONDS, AIM_WORST_SECONDS = 60.0, 30.0, 90.0
GIB = 2**30


@dataclass(frozen=True)
class Call:
    """One call's cost on the host, for each byte of the problem's data."""

    cpu_seconds_a_byte: float
    memory_a_byte: float


@dataclass(frozen=True)
class Cost:
    """A whole submission of one problem at GPU sizes; `copied_bytes` and `memory_bytes` are of its largest call."""

    slug: str
    call_cpu_seconds: float
    cpu_seconds: float
    kernel_seconds: float
    copied_bytes: float
    memory_bytes: float

    @property
    def wall_seconds(self) -> float:
        """The host's part and the GPU's, one after the other."""
        return self.cpu_seconds + self.kernel_seconds


def calls_of(problem: Problem, case: Case, call_seconds: float) -> float:
    """How many calls a submission makes of a case, if each takes the host so long; a checked link counts as one."""
    fitting = call_seconds or 1e-9
    warm_up = max(1.0, min(GPU_PROFILE.warm_up_calls, GPU_PROFILE.warm_up_cap_seconds / fitting))
    samples = max(GPU_PROFILE.fewest_samples, min(GPU_PROFILE.min_samples, GPU_PROFILE.max_wall_seconds / fitting))
    links = 1.0 + (GPU_CHAINS.links if _is_checked_wholly(problem, case) else GPU_CHAINS.checked_links + 1)
    chains = max(1.0, min(GPU_CHAINS.chains, GPU_CHAINS.most_seconds / (links * fitting)))
    return CHECK_CALLS + GPU_PROFILE.sessions.sessions * (warm_up + samples) + chains * links


def _is_checked_wholly(problem: Problem, case: Case) -> bool:
    return GPU_CHAINS.links * work_of(problem, case, "float32").written_bytes <= GPU_CHAINS.wholly_checked_bytes


def measured_call(problem: Problem) -> Call:
    """One call of the largest `cpu` size, the second of two, so that nothing is looked up for the first time."""
    case = max(problem.sizes.cpu, key=problem.bytes)
    judge = CaseJudge(problem, case, RunSeed(""), 0)
    cpu_seconds = [_call_cpu_seconds(problem, judge, number) for number in (1, 2)][-1]
    tracemalloc.start()
    _call_cpu_seconds(problem, judge, 3)
    memory_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Call(cpu_seconds / problem.bytes(case), memory_bytes / problem.bytes(case))


def _call_cpu_seconds(problem: Problem, judge: CaseJudge, number: int) -> float:
    """What the judge does for a call: it draws and copies inputs, copies outputs, and compares them.

    The outputs are the reference, which is not counted here, as comparing computes it once more.
    """
    begin = time.process_time()
    trial = judge.draw(number)
    for value in trial.inputs.values():
        np.array(value)
    made = time.process_time()
    dtypes = {parameter.name: parameter.dtype for parameter in problem.parameters}
    with np.errstate(all="ignore"):
        outputs = {name: np.asarray(value).astype(dtypes[name]) for name, value in judge.expected(trial).items()}
    answered = time.process_time()
    for output in outputs.values():
        np.array(output)
    factors = problem.factors(judge.case, trial.inputs) if _is_large_product(problem) else None
    if factors is None:
        judge.fault(trial, outputs)
    else:
        check_product(outputs[factors.output], factors, problem.tolerance, np.random.default_rng(number))
    return made - begin + time.process_time() - answered


def _is_large_product(problem: Problem) -> bool:
    """Whether its GPU cases would take too long to compute wholly, if it has factors."""
    return statistics.median(problem.flops(case) for case in problem.sizes.gpu) > WHOLLY_COMPARED_FLOPS


def cost_of(problem: Problem, roofs: Roofs) -> Cost:
    """Measure a call, and scale it to all GPU cases."""
    call, cpu_seconds, kernel_seconds = measured_call(problem), list[float](), list[float]()
    sizes_bytes = [problem.bytes(case) for case in problem.sizes.gpu]
    for case, size_bytes in zip(problem.sizes.gpu, sizes_bytes, strict=True):
        call_seconds = call.cpu_seconds_a_byte * size_bytes
        calls = calls_of(problem, case, call_seconds)
        cpu_seconds.append(calls * call_seconds)
        kernel_seconds.append(calls * _kernel_seconds(problem, case, roofs))
    return Cost(
        problem.slug,
        call.cpu_seconds_a_byte * statistics.median(sizes_bytes),
        sum(cpu_seconds),
        sum(kernel_seconds),
        max(sizes_bytes),
        call.memory_a_byte * max(sizes_bytes),
    )


def _kernel_seconds(problem: Problem, case: Case, roofs: Roofs) -> float:
    work = work_of(problem, case, "float32")
    moved = (work.read_bytes + work.written_bytes) / roofs.bytes_per_second
    return max(floor_of(roofs, work).seconds, moved, work.flops / peak_of(roofs, work.dtype))


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each problem, and the aims."""
    parser = argparse.ArgumentParser(description="Compute what a submission at GPU sizes costs its host.")
    parser.add_argument("slugs", nargs="*", help="problems; all where none is given")
    chosen = parser.parse_args(arguments)
    roofs = roofs_of("gfx942", "AMD Instinct MI300X")
    if roofs is None:
        raise SystemExit("the roofs of the MI300X are missing")
    columns = f"{'CPU s/call':>11}{'CPU s':>10}{'kernel s':>10}{'wall s':>9}{'copied GiB':>12}{'memory GiB':>12}"
    print(f"{'problem':<36}{columns}")
    costs: list[Cost] = []
    for slug in chosen.slugs or sorted(catalogue().problems):
        cost = cost_of(catalogue().get(slug).problem, roofs)
        costs.append(cost)
        print(
            f"{cost.slug:<36}{cost.call_cpu_seconds:>11.2f}{cost.cpu_seconds:>10.0f}{cost.kernel_seconds:>10.2f}"
            f"{cost.wall_seconds:>9.0f}{cost.copied_bytes / GIB:>12.2f}{cost.memory_bytes / GIB:>12.2f}",
            flush=True,
        )
    walls, cpus = [cost.wall_seconds for cost in costs], [cost.cpu_seconds for cost in costs]
    print(f"{len(costs)} problems; a call is of the median size, copied and memory are of the largest")
    for name, figure, aim in (
        ("CPU s at the median", statistics.median(cpus), AIM_CPU_SECONDS),
        ("wall s at the median", statistics.median(walls), AIM_MEDIAN_SECONDS),
        ("wall s at the worst", max(walls), AIM_WORST_SECONDS),
    ):
        print(f"{name}: {figure:.0f} (aim {aim:.0f}): {'met' if figure <= aim else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
