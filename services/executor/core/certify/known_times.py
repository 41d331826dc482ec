"""Kernels whose true time is known: they show how near claims come to it, and how much resubmitting gains.

On the simulated GPU the truth is the time that the source asks for. Elsewhere a thread of the kernel waits until the
device's clock says that the time has passed; the time of the launch is in the claim as well. The kernels come with a
launch plan (contract D), so our own runner launches them and no compiler for a recorder is needed.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from problems.kit.definition import Case, Problem
from services.executor.core.model.events import Finished
from services.executor.core.model.job import CoreJob
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import find_problem
from services.executor.core.run.one_run import run
from submissions.modes import Mode

PROBLEM = "vector-addition"
AIM_TRUTH_PERCENT = 1.0
AIM_SPREAD_PERCENT = AIM_GAIN_PERCENT = 0.3

_CLOCK = r"""
#include <hip/hip_runtime.h>

static __device__ long long now() {
#ifdef __CUDACC__
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return (long long)ns;
#else
    return wall_clock64();
#endif
}
"""
_KERNEL = r"""
extern "C" __global__ void add(const float* a, const float* b, float* c, size_t n) {
    const long long begin = now();
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    while (i == 0 && now() - begin < WAIT_TICKS) {
    }
}
"""
_PLAN = json.dumps(
    {
        "launches": [
            {
                "kernel": "add",
                "grid": ["ceil_div(n, 256)"],
                "block": ["256"],
                "args": ["d_input1", "d_input2", "d_output", "n"],
            }
        ]
    }
)
_TICKS = r"""
#include <stdio.h>
#include <time.h>

__global__ void read(long long* ticks) { *ticks = now(); }

static long long ticks_now(long long* on_device) {
    long long ticks = 0;
    read<<<1, 1>>>(on_device);
    (void)hipMemcpy(&ticks, on_device, sizeof ticks, hipMemcpyDeviceToHost);
    return ticks;
}

int main() {
    long long* on_device = nullptr;
    if (hipMalloc(&on_device, sizeof *on_device) != hipSuccess) return 1;
    ticks_now(on_device);
    timespec first{}, second{};
    const timespec pause{0, 200000000};
    clock_gettime(CLOCK_MONOTONIC, &first);
    const long long begin = ticks_now(on_device);
    nanosleep(&pause, nullptr);
    const long long end = ticks_now(on_device);
    clock_gettime(CLOCK_MONOTONIC, &second);
    const double us = 1e6 * (second.tv_sec - first.tv_sec) + 1e-3 * (second.tv_nsec - first.tv_nsec);
    printf("%.4f\n", (end - begin) / us);
}
"""


class NoTimeError(Exception):
    """A run ended without a time; the message has its verdict and reason."""

    def __init__(self, finished: Finished) -> None:
        super().__init__(f"{finished.verdict}: {finished.message}\n{finished.details}".strip())


@dataclass(frozen=True)
class Row:
    """Several runs of one kernel: their claimed times, in us, and their unexpected ends."""

    device: str
    true_us: float
    claimed_us: list[float]
    samples: float
    unlike: list[str]
    """Verdicts other than ACCEPTED, and timings other than VALID."""
    truth_from_us: float | None = None
    """The true time from which on the claim must be near the truth; None if it never must."""

    @property
    def ratio(self) -> float:
        """The median of claimed over true time."""
        return statistics.median(self.claimed_us) / self.true_us

    @property
    def farthest_percent(self) -> float:
        """Distance of the farthest run from the truth, in percent of the true time."""
        return 100 * max(abs(claimed / self.true_us - 1) for claimed in self.claimed_us)

    @property
    def spread_percent(self) -> float:
        """The standard deviation over the mean, in percent."""
        return 100 * statistics.stdev(self.claimed_us) / statistics.mean(self.claimed_us)

    @property
    def gain_percent(self) -> float:
        """Distance of the best run below the mean of all, in percent of the mean."""
        mean = statistics.mean(self.claimed_us)
        return 100 * (mean - min(self.claimed_us)) / mean

    @property
    def missed(self) -> list[str]:
        """The missed aims, in one word each."""
        is_judged = self.truth_from_us is not None and self.true_us >= self.truth_from_us
        misses = {
            "verdict": bool(self.unlike),
            "truth": is_judged and self.farthest_percent > AIM_TRUTH_PERCENT,
            "sd": self.spread_percent > AIM_SPREAD_PERCENT,
            "gain": self.gain_percent > AIM_GAIN_PERCENT,
        }
        return [name for name, is_missed in misses.items() if is_missed]


def truth_from_us(device: str) -> float | None:
    """Returns the time from which on a claim must be near the truth; None on `cpu`, which promises no idle processor.

    On a real GPU the launch takes microseconds beside the wait, and only the wait is known.
    """
    return {"sim": 20.0, "cpu": None}.get(device, 1_000.0)


def smallest_case_of(slug: str) -> Problem:
    """Returns the problem with its smallest case alone."""
    problem = find_problem(slug)
    return with_case(problem, min(problem.sizes.cpu, key=problem.bytes))


def with_case(problem: Problem, case: Case) -> Problem:
    """Returns the problem with one case alone in the size set `cpu`."""
    sizes = replace(problem.sizes, cpu=(case,))
    return cast("Problem", type("OneCase", (type(problem),), {"sizes": sizes})())


async def ticks_per_us(context: RunContext) -> float:
    """Measures the ticks per us of the clock that a kernel waits by; raises NoTimeError if that fails."""
    finished = await run(CoreJob(_CLOCK + _TICKS, Mode.SANDBOX), context, lambda _: None)
    try:
        return float(finished.stdout)
    except ValueError:
        raise NoTimeError(finished) from None


def source_of(true_us: float, wait_ticks: int) -> str:
    """Returns a kernel that takes `true_us`, by the script of the simulated GPU or by the ticks that it waits."""
    return f"// sim: latency_us={true_us} noise=gpu\n{_CLOCK}" + _KERNEL.replace("WAIT_TICKS", f"{wait_ticks}")


async def measured(
    true_us: float, runs: int, context: RunContext, reported: Callable[[int], None] = lambda _: None
) -> Row:
    """Runs the kernel `runs` times, and calls `reported` with the number of runs so far; raises NoTimeError."""
    device = context.device.describe()
    wait_ticks = 0 if device.is_simulated else round(true_us * await ticks_per_us(context))
    fitted = replace(context, find_problem=smallest_case_of)
    claimed_us, samples, unlike = list[float](), list[int](), list[str]()
    for number in range(1, runs + 1):
        job = CoreJob(source_of(true_us, wait_ticks), Mode.BENCHMARK, PROBLEM, launch_plan=_PLAN)
        finished = await run(job, fitted, lambda _: None)
        if finished.benchmarked is None:
            raise NoTimeError(finished)
        (result,) = finished.benchmarked.results
        claimed_us.append(result.runtime_ns / 1e3)
        samples.append(result.samples)
        words = {f"{finished.verdict}", f"{result.timing}"} - {"ACCEPTED", "VALID"}
        unlike += sorted(words)
        reported(number)
    return Row(device.name, true_us, claimed_us, statistics.mean(samples), unlike, truth_from_us(device.name))
