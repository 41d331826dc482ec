"""The benchmark stage: timed calls of every public case, each verified like any other call."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.core.events import Benchmarked, Benchmarking, BenchmarkResult, Bound, Timing
from services.executor.core.failure import Failure
from services.executor.core.roofline import Roofs, Work, bound_of, roofs_of
from services.executor.core.statistics import geometric_mean, summarise
from services.executor.core.stopping import CPU_PROFILE, GPU_PROFILE, StoppingProfile, StoppingRule, StopReason
from services.executor.core.timing_audit import CPU_RULE, GPU_RULE, AuditRule, floor_fault, timing_fault
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.definition import Case, Problem
    from services.executor.core.case_judge import CaseJudge
    from services.executor.core.checking import Checker
    from services.executor.core.progress import Progress
    from services.executor.core.session import CallTimes
    from services.executor.devices.device import DeviceDescription


@dataclass(frozen=True)
class Measurement:
    """The timed calls of one case, in order, the null calls between them, and why they ended."""

    times: tuple[CallTimes, ...]
    nulls_ns: tuple[int, ...]
    stopped_by: StopReason


@dataclass(frozen=True)
class Scale:
    """What times of a device are measured against; `dtype` is the run's."""

    device: DeviceDescription
    roofs: Roofs | None
    dtype: str

    @property
    def audit_rule(self) -> AuditRule:
        """How far the judge's clock may be off the claims."""
        return GPU_RULE if self.device.is_gpu else CPU_RULE


def profile_of(device: DeviceDescription) -> StoppingProfile:
    """The budget of a device."""
    return GPU_PROFILE if device.is_gpu else CPU_PROFILE


async def benchmark(
    checker: Checker, cases: Sequence[Case], device: DeviceDescription, profile: StoppingProfile, progress: Progress
) -> None:
    """Measure every case; raises Failure for a wrong call, and for times that cannot be true."""
    progress.tell(Benchmarking(len(cases)))
    scale = Scale(device, roofs_of(device.architecture), progress.job.dtype)
    results: list[BenchmarkResult] = []
    faults: list[str] = []
    for index, case in enumerate(cases):
        measurement = await measure(checker, checker.judge(case, index), profile)
        results.append(_result(index, len(cases), checker.problem, case, measurement, scale))
        if fault := _fault(checker.problem, case, measurement, scale):
            faults.append(f"case `{case.name}`: {fault}")
        progress.tell(results[-1])
    progress.benchmarked = _summary(results, device.name, Timing.INVALID if faults else Timing.VALID)
    progress.tell(progress.benchmarked)
    if faults:
        message = (
            f"The times cannot be true ({faults[0]}): do all work on streams that the default stream waits for, and "
            "start no work that goes on after `solution` has returned."
        )
        raise Failure(Verdict.TIMING_INVALID, message, details="\n".join(faults))


async def measure(checker: Checker, judge: CaseJudge, profile: StoppingProfile) -> Measurement:
    """Warm up, then take samples until the profile is satisfied."""
    begin = time.perf_counter()
    device_seconds, calls = 0.0, 0
    while not profile.is_warm(calls, device_seconds, time.perf_counter() - begin):
        device_seconds += (await checker.call(judge)).event_ns / 1e9
        calls += 1
    rule = StoppingRule(profile)
    times: list[CallTimes] = []
    nulls_ns: list[int] = []
    begin = time.perf_counter()
    while True:
        times.append(await checker.call(judge))
        nulls_ns.append(await checker.session.null_call_ns())
        stopped_by = rule.add(times[-1].event_ns / 1e9, time.perf_counter() - begin)
        if stopped_by is not None:
            return Measurement(tuple(times), tuple(nulls_ns), stopped_by)


def _result(
    index: int, total: int, problem: Problem, case: Case, measurement: Measurement, scale: Scale
) -> BenchmarkResult:
    samples = [float(times.event_ns) for times in measurement.times]
    summary = summarise(samples)
    seconds = max(summary.median, 1.0) / 1e9
    bound, percent = Bound.UNKNOWN, None
    if scale.roofs is not None:
        bound, percent = bound_of(scale.roofs, _work(problem, case, scale.dtype), seconds)
    return BenchmarkResult(
        test_id=index + 1,
        name=case.name,
        total_tests=total,
        runtime_ns=summary.median,
        ci_low_ns=summary.ci_low,
        ci_high_ns=summary.ci_high,
        samples=summary.count,
        converged=measurement.stopped_by is StopReason.PRECISION,
        stopped_by=measurement.stopped_by,
        min_ns=summary.minimum,
        p5_ns=summary.p5,
        p25_ns=summary.p25,
        p75_ns=summary.p75,
        p95_ns=summary.p95,
        p99_ns=summary.p99,
        max_ns=summary.maximum,
        mad_ns=summary.mad,
        wall_runtime_ns=summarise([float(times.wall_ns) for times in measurement.times]).median,
        gflops=problem.flops(case) / seconds / 1e9,
        gbytes_per_second=problem.bytes(case) / seconds / 1e9,
        percent_of_roof=percent,
        bound=bound,
        sample_ns=tuple(samples),
    )


def _fault(problem: Problem, case: Case, measurement: Measurement, scale: Scale) -> str | None:
    claimed = [float(times.event_ns) for times in measurement.times]
    walls = [float(times.wall_ns) for times in measurement.times]
    return timing_fault(claimed, walls, measurement.nulls_ns, scale.audit_rule) or floor_fault(
        scale.roofs, _work(problem, case, scale.dtype), claimed
    )


def _work(problem: Problem, case: Case, dtype: str) -> Work:
    sizes = {parameter.name: parameter.dtype.itemsize for parameter in problem.parameters}
    written = 0.0
    for name, shape in problem.output_shapes(case).items():
        elements = 1
        for extent in shape:
            elements *= extent
        written += elements * sizes[name]
    return Work(max(0.0, problem.bytes(case) - written), written, problem.flops(case), dtype)


def _summary(results: Sequence[BenchmarkResult], device: str, timing: Timing) -> Benchmarked:
    return Benchmarked(
        results=tuple(results),
        mean_runtime_ns=geometric_mean([result.runtime_ns for result in results]),
        mean_gflops=geometric_mean([result.gflops for result in results]),
        timing=timing,
        device=device,
    )
