"""How near claimed times are to true ones, and what resubmitting gains, for honest kernels whose true time is known.

`python benchmarks/trust.py` runs kernels of 1 us to 10 ms through the whole core, eight times each, on a simulated GPU
and on `cpu`. For each it prints the median of claimed over true time, the farthest of the runs from the truth, their
standard deviation, what the best of them is below their mean, and whether the aims are met:

    within 1 % of the truth from 20 us on     simulated GPU alone: `cpu` has no idle processor to promise
    sd at most 0.3 %, gain of the best at most 0.3 %

On the simulated GPU the truth is the time that the source asks for, under a noise with slow first calls, a clock that
ramps up and jitter; nothing of it takes that long, so the load of this machine does not show. On `cpu` a thread of the
kernel waits until the processor's counter says that the time has passed, and the load of this machine is in all
figures. Both are of one small case, as what the judge does for each call is the same for a large one. Our own runner
launches the kernels, so that their times are VALID. The exit status is 1 if the simulated GPU misses an aim.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

sys.path.insert(0, str(Path(__file__).parents[1]))

from services.executor.core.installation import Options, default_cache_folder, find_problem, open_equipment
from services.executor.core.job import CoreJob, Mode
from services.executor.core.run import run
from services.executor.devices.sim.sim_device import SimulatedGpu

if TYPE_CHECKING:
    from problems.definition import Case, Problem
    from services.executor.core.equipment import Equipment

TRUE_US = (1.0, 5.0, 20.0, 100.0, 1_000.0, 10_000.0)
AIM_TRUTH_PERCENT, AIM_TRUTH_FROM_US = 1.0, 20.0
AIM_SPREAD_PERCENT = AIM_GAIN_PERCENT = 0.3
PROBLEM = "vector-addition"

KERNEL = r"""
#include <hip/hip_runtime.h>

__global__ void add(const float* a, const float* b, float* c, size_t n) {
    const long long begin = clock64();
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    while (i == 0 && clock64() - begin < WAIT_TICKS) {
    }
}

extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
"""

TICKS = r"""
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <time.h>

__global__ void read(long long* ticks) { *ticks = clock64(); }

static long long ticks_now() {
    static long long ticks;
    read<<<1, 1>>>(&ticks);
    (void)hipDeviceSynchronize();
    return ticks;
}

int main() {
    const long long begin = ticks_now();
    const timespec pause{0, 200000000};
    timespec first{}, second{};
    clock_gettime(CLOCK_MONOTONIC, &first);
    nanosleep(&pause, nullptr);
    clock_gettime(CLOCK_MONOTONIC, &second);
    const double us = 1e6 * (second.tv_sec - first.tv_sec) + 1e-3 * (second.tv_nsec - first.tv_nsec);
    printf("%.1f\n", (ticks_now() - begin) / us);
}
"""


@dataclass(frozen=True)
class Row:
    """Several runs of one kernel: their claimed times, in us, and what else they ended as."""

    device: str
    true_us: float
    claimed_us: list[float]
    samples: float
    unlike: list[str]
    """Verdicts other than ACCEPTED, and timings other than VALID."""

    @property
    def ratio(self) -> float:
        """The median of claimed over true time."""
        return statistics.median(self.claimed_us) / self.true_us

    @property
    def farthest_percent(self) -> float:
        """How far the run that is farthest from the truth is from it."""
        return 100 * max(abs(claimed / self.true_us - 1) for claimed in self.claimed_us)

    @property
    def spread_percent(self) -> float:
        """The standard deviation over the mean."""
        return 100 * statistics.stdev(self.claimed_us) / statistics.mean(self.claimed_us)

    @property
    def gain_percent(self) -> float:
        """How far the best run is below the mean of all."""
        mean = statistics.mean(self.claimed_us)
        return 100 * (mean - min(self.claimed_us)) / mean

    @property
    def missed(self) -> list[str]:
        """The aims that are missed, in a word each."""
        is_judged = self.device == "sim" and self.true_us >= AIM_TRUTH_FROM_US
        misses = {
            "verdict": bool(self.unlike),
            "truth": is_judged and self.farthest_percent > AIM_TRUTH_PERCENT,
            "sd": self.spread_percent > AIM_SPREAD_PERCENT,
            "gain": self.gain_percent > AIM_GAIN_PERCENT,
        }
        return [name for name, is_missed in misses.items() if is_missed]


def smallest_case_of(slug: str) -> Problem:
    """The problem with its smallest case alone."""
    problem = find_problem(slug)
    return with_case(problem, min(problem.sizes.cpu, key=problem.bytes))


def with_case(problem: Problem, case: Case) -> Problem:
    """The problem with one case of `cpu` alone."""
    sizes = replace(problem.sizes, cpu=(case,))
    return cast("Problem", type("OneCase", (type(problem),), {"sizes": sizes})())


async def ticks_per_us(equipment: Equipment) -> float:
    """How fast the counter runs that a kernel on `cpu` reads; raises SystemExit if that cannot be found out."""
    finished = await run(CoreJob(TICKS, Mode.SANDBOX), equipment, lambda _: None)
    try:
        return float(finished.stdout)
    except ValueError:
        raise SystemExit(f"{finished.verdict}: {finished.message}\n{finished.details}") from None


def source_of(true_us: float, wait_ticks: int) -> str:
    """A kernel that takes so long: by the script of the simulated GPU, and by waiting for the processor's counter."""
    return f"// sim: latency_us={true_us} noise=gpu\n" + KERNEL.replace("WAIT_TICKS", f"{wait_ticks}")


async def measured(device: str, true_us: float, runs: int, equipment: Equipment) -> Row:
    """Run the kernel that often; raises SystemExit for a run without any time."""
    wait_ticks = 0 if device == "sim" else round(true_us * await ticks_per_us(equipment))
    claimed_us, samples, unlike = list[float](), list[int](), list[str]()
    for _ in range(runs):
        job = CoreJob(source_of(true_us, wait_ticks), Mode.BENCHMARK, PROBLEM)
        finished = await run(job, equipment, lambda _: None)
        if finished.benchmarked is None:
            raise SystemExit(f"{finished.verdict}: {finished.message}\n{finished.details}")
        (result,) = finished.benchmarked.results
        claimed_us.append(result.runtime_ns / 1e3)
        samples.append(result.samples)
        words = {f"{finished.verdict}", f"{result.timing}"} - {"ACCEPTED", "VALID"}
        unlike += sorted(words)
    return Row(device, true_us, claimed_us, statistics.mean(samples), unlike)


def line_of(row: Row) -> str:
    """The row of the table."""
    aims = "met" if not row.missed else f"missed: {', '.join([*row.missed, *row.unlike])}"
    return (
        f"{row.device:<8}{row.true_us:>10g}{row.ratio:>12.4f}{row.farthest_percent:>11.2f}{row.spread_percent:>8.2f}"
        f"{row.gain_percent:>8.2f}{row.samples:>7.0f}  {aims}"
    )


async def compare(devices: list[str], runs: int, most_us: float) -> list[Row]:
    """Print a line for each kernel and device as it comes."""
    print(
        f"{'device':<8}{'true us':>10}{'claimed/true':>12}{'farthest %':>11}{'sd %':>8}{'gain %':>8}{'calls':>7}  aims"
    )
    rows: list[Row] = []
    for device in devices:
        opened = await open_equipment(Options("cpu", "auto", default_cache_folder(), 2048))
        fitted = replace(opened, find_problem=smallest_case_of)
        equipment = replace(fitted, device=SimulatedGpu()) if device == "sim" else fitted
        for true_us in TRUE_US:
            if true_us <= most_us:
                rows.append(await measured(device, true_us, runs, equipment))
                print(line_of(rows[-1]), flush=True)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Print the table; answers 1 where the simulated GPU misses an aim."""
    parser = argparse.ArgumentParser(description="Compare claimed times with true ones.")
    parser.add_argument("--runs", type=int, default=8, help="submissions of each kernel (default 8)")
    parser.add_argument("--device", choices=["sim", "cpu"], help="both by default")
    parser.add_argument("--most-us", type=float, default=TRUE_US[-1], help="leave out longer kernels")
    chosen = parser.parse_args(arguments)
    begin = time.perf_counter()
    rows = asyncio.run(compare([chosen.device] if chosen.device else ["sim", "cpu"], chosen.runs, chosen.most_us))
    load = os.getloadavg()[0]
    print(f"{chosen.runs} runs each in {time.perf_counter() - begin:.0f} s, load of this machine {load:.1f}")
    missed = [row for row in rows if row.device == "sim" and row.missed]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
