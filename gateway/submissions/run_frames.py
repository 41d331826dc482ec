"""Frames of the steps on the machine, and the parts that they share with a job's last frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from wavepool.executor.v1.run_event_pb2 import (
    Band,
    Benchmarked,
    BenchmarkResult,
    Checked,
    Compiled,
    Extent,
    IsaReport,
    KernelHint,
    KernelReport,
    Profile,
    ProfiledKernel,
    RunEvent,
    TestResult,
)
from wavepool.scheduler.v1.scheduler_pb2 import JobEvent
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL, RUN_MODE_SAMPLE

from gateway.words.enum_names import (
    benchmark_stage_name,
    bound_name,
    profile_clock_name,
    profile_outcome_name,
    timing_name,
)
from gateway.words.proto_time import seconds_of
from vocabulary.counts import counted
from vocabulary.intervals import interval_of_mean

NS_PER_MS = 1e6
CI_CONFIDENCE = 0.95
SPREAD = ("min", "p5", "p25", "p75", "p95", "p99", "max", "mad")
INSTRUMENTS = ("clock_mhz", "temperature_celsius", "power_watts")
TENSARAS_NAMES: dict[Literal["clock_mhz", "temperature_celsius"], str] = {
    "clock_mhz": "sm_clock_mhz",
    "temperature_celsius": "temp_c",
}
RESOURCES = ("vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes")
MAX_RUNS_SHOWN = 100
"""Most samples that a frame shows, evenly spaced; a case may have 2,000."""
NO_SAMPLE_STEPS = frozenset({"compiled", "checking", "test_result", "checked"})
"""Steps hidden in a sample run, of which front ends expect IN_QUEUE, COMPILING and the result."""


@dataclass(frozen=True)
class Setting:
    """Facts from earlier events that a frame needs: the job's mode, its device and its timing mode."""

    mode: int
    device: str = ""
    device_title: str = ""
    timing_mode: str = ""
    """Timing mode of the calls, once the benchmark has begun."""
    is_shared: bool = False
    """The frames are for other users than those of the job's account."""

    def after(self, event: JobEvent) -> Setting:
        """The setting after this event."""
        if event.HasField("provisioning") and event.provisioning.HasField("machine"):
            machine = event.provisioning.machine
            return replace(self, device=machine.device, device_title=machine.device_title)
        if event.HasField("run") and event.run.HasField("benchmarking"):
            return replace(self, timing_mode=event.run.benchmarking.timing_mode)
        return self

    @property
    def labels(self) -> dict[str, Any]:
        """Names of the hardware that a result is from, so that a CPU's times are not mistaken for a GPU's."""
        return {"device": self.device or None, "device_title": self.device_title or None}


@dataclass(frozen=True)
class Frame:
    """One event of the stream, before it is encoded."""

    status: str
    fields: dict[str, Any]


def test_entry(result: TestResult) -> dict[str, Any]:
    """The outcome of one test case."""
    status = "PASSED" if result.passed else "NOT_RUN" if result.not_run else "FAILED"
    return {"test_id": result.test_id, "name": result.name, "status": status}


def test_entries(results: Iterable[TestResult]) -> list[dict[str, Any]]:
    """The outcomes of all test cases."""
    return [test_entry(result) for result in results]


def compiled_fields(compiled: Compiled) -> dict[str, Any]:
    """Fields of COMPILED."""
    return {
        "warnings": compiled.warnings,
        "duration_ms": seconds_of(compiled.duration) * 1000,
        "cached": compiled.cached,
        **isa_fields(compiled.isa),
    }


def isa_fields(isa: IsaReport) -> dict[str, Any]:
    """The MI300X compiler's report on the source, whether or not it runs on such a GPU."""
    return {
        "isa": {kernel.name: kernel_entry(kernel) for kernel in isa.kernels},
        "isa_toolchain": isa.toolchain or None,
        "isa_note": isa.note or None,
    }


def kernel_entry(kernel: KernelReport) -> dict[str, Any]:
    """One kernel's use of a compute unit's resources, with advice for its author."""
    return {
        "vgpr": kernel.vgpr,
        "sgpr": kernel.sgpr,
        "agpr": kernel.agpr,
        "lds_bytes": kernel.lds_bytes,
        "scratch_bytes": kernel.scratch_bytes,
        "spills": kernel.spills,
        "occupancy": kernel.occupancy,
        "symbol": kernel.symbol,
        "line": kernel.line or None,
        "vgpr_spills": kernel.vgpr_spills,
        "limited_by": kernel.limited_by or None,
        "next_step_saving": kernel.next_step_saving or None,
        "block_threads": kernel.block_threads or None,
        "block_threads_known": kernel.block_threads_known,
        "dynamic_lds": kernel.dynamic_lds,
        "mfma": kernel.mfma,
        "instructions": kernel.instructions,
        "uncounted": list(kernel.uncounted),
        "hints": [hint_entry(hint) for hint in kernel.hints],
    }


def hint_entry(hint: KernelHint) -> dict[str, Any]:
    """One piece of advice; without a line it is about the whole kernel."""
    return {
        "subject": hint.subject,
        "line": hint.line or None,
        "what": hint.what,
        "why": hint.why,
        "advice": hint.advice,
    }


def checked_fields(checked: Checked) -> dict[str, Any]:
    """Fields of CHECKED."""
    return {
        "test_results": test_entries(checked.test_results),
        "passed_tests": checked.passed_tests,
        "total_tests": checked.total_tests,
    }


def benchmark_entry(result: BenchmarkResult, max_runs: int = 0) -> dict[str, Any]:
    """One test case's times, with up to `max_runs` of its samples."""
    return {
        "name": result.name,
        "test_id": result.test_id,
        "runtime_ms": result.runtime_ns / NS_PER_MS,
        "gflops": result.gflops,
        "gbytes_per_second": result.gbytes_per_second,
        "percent_of_roof": result.percent_of_roof or None,
        "bound": bound_name(result.bound) if result.bound else None,
        "timing": timing_name(result.timing),
        "unproven_because": result.unproven_because or None,
        "shown_interval": result.shown_interval or None,
        **spread_fields(result, max_runs),
        **evidence_fields(result),
    }


def spread_fields(result: BenchmarkResult, max_runs: int) -> dict[str, Any]:
    """The spread of a case's samples, and the precision of its time."""
    shown = _evenly_spaced(result.sample_ns, max_runs)
    return {
        "ci": {
            "low_ms": result.ci_low_ns / NS_PER_MS,
            "high_ms": result.ci_high_ns / NS_PER_MS,
            "confidence": CI_CONFIDENCE,
        },
        "samples": result.samples,
        "converged": result.converged,
        "stopped_by": result.stopped_by,
        **{f"{name}_ms": getattr(result, f"{name}_ns") / NS_PER_MS for name in SPREAD},
        "bimodality": _known(result, "bimodality"),
        "correlation_time": result.correlation_time,
        "session_medians_ms": [ns / NS_PER_MS for ns in result.session_median_ns],
        "disagreement": result.disagreement,
        "runs": [{"run_index": index, "runtime_ms": ns / NS_PER_MS} for index, ns in shown],
    }


def evidence_fields(result: BenchmarkResult) -> dict[str, Any]:
    """The evidence for a case's time, and the state of the device."""
    metrics = {name: _band(getattr(result, name)) for name in INSTRUMENTS if result.HasField(name)}
    return {
        "audit_ratio": _known(result, "audit_ratio"),
        "audited_calls": result.audited_calls,
        "null_ms": result.null_ns / NS_PER_MS,
        "floor_ms": _milliseconds(_known(result, "floor_ns")),
        "hot_ms": _milliseconds(_known(result, "hot_ns")),
        "first_call_ms": result.first_call_ns / NS_PER_MS,
        "stream_span_ms": _milliseconds(_known(result, "stream_span_ns")),
        "device_span_ms": _milliseconds(_known(result, "device_span_ns")),
        "flush_bytes": result.flush_bytes,
        "arithmetic_intensity": _known(result, "arithmetic_intensity"),
        "replaced_samples": len(result.replaced),
        "gpu_metrics": metrics | _flat_metrics(result),
    }


def benchmarked_fields(benchmarked: Benchmarked, results_key: str) -> dict[str, Any]:
    """Fields of BENCHMARKED, and of ACCEPTED, which calls the results `benchmark_results`."""
    return {
        results_key: [benchmark_entry(result) for result in benchmarked.results],
        "avg_runtime_ms": benchmarked.mean_runtime_ns / NS_PER_MS,
        "avg_runtime_interval": interval_of_mean(benchmarked.results) or None,
        "avg_gflops": benchmarked.mean_gflops,
        "total_tests": len(benchmarked.results),
        "timing": timing_name(benchmarked.timing),
        "unproven_because": benchmarked.unproven_because or None,
        "shown_interval": benchmarked.shown_interval or None,
        "converged": benchmarked.converged,
        "simulated": benchmarked.simulated,
        "timing_mode": benchmarked.timing_mode or None,
        "flush_verified": benchmarked.flush_verified if benchmarked.HasField("flush_verified") else None,
    }


def profile_fields(profile: Profile) -> dict[str, Any]:
    """A submission's kernels by the device's profiler, or why there are none."""
    return {
        "outcome": profile_outcome_name(profile.outcome),
        "note": profile.note or None,
        "tool": profile.tool or None,
        "tool_version": profile.tool_version or None,
        "clock": profile_clock_name(profile.clock) if profile.clock else None,
        "name": profile.name or None,
        "solution_calls": profile.solution_calls,
        "kernels": [profiled_kernel_entry(kernel) for kernel in profile.kernels],
        "kernels_left_out": profile.kernels_left_out,
    }


def profiled_kernel_entry(kernel: ProfiledKernel) -> dict[str, Any]:
    """All launches of one kernel with one shape; null for what the profiler does not report."""
    return {
        "name": kernel.name,
        "calls": kernel.calls,
        "total_ns": kernel.total_ns,
        "mean_ns": kernel.mean_ns,
        "min_ns": kernel.min_ns,
        "max_ns": kernel.max_ns,
        "share": kernel.share,
        "grid": _extent(kernel.grid) if kernel.HasField("grid") else None,
        "block": _extent(kernel.block) if kernel.HasField("block") else None,
        **{name: getattr(kernel, name) if cast("Any", kernel).HasField(name) else None for name in RESOURCES},
    }


def _extent(extent: Extent) -> list[int]:
    return [extent.x, extent.y, extent.z]


def _known(result: BenchmarkResult, name: str) -> float | None:
    # The stubs type each field's name as a literal.
    return getattr(result, name) if cast("Any", result).HasField(name) else None


def _milliseconds(ns: float | None) -> float | None:
    return None if ns is None else ns / NS_PER_MS


def _band(band: Band) -> dict[str, float]:
    # Events from before means were stored have only the median.
    return {"low": band.low, "median": band.median, "high": band.high, "mean": band.mean or band.median}


def _flat_metrics(result: BenchmarkResult) -> dict[str, float]:
    """The same figures under the names that the charts of Tensara's front ends read."""
    flat: dict[str, float] = {}
    for name, theirs in TENSARAS_NAMES.items():
        if result.HasField(name):
            band = _band(getattr(result, name))
            flat |= {f"{theirs}_min": band["low"], f"{theirs}_max": band["high"], f"{theirs}_mean": band["mean"]}
    return flat


def _evenly_spaced(samples: Sequence[float], count: int) -> list[tuple[int, float]]:
    if not samples or not count:
        return []
    step = max(1, -(-len(samples) // count))
    return [(index, samples[index]) for index in range(0, len(samples), step)]


def run_frame(event: RunEvent, setting: Setting) -> Frame | None:
    """The frame of a step on the machine; None if it shows nothing."""
    kind = event.WhichOneof("event")
    if kind is None or _is_hidden(kind, setting.mode):
        return None
    writer = _RUN_FRAMES.get(kind)
    return writer(event, setting) if writer else None


def _is_hidden(kind: str, mode: int) -> bool:
    """True if the job's last frame repeats the step, or if people expect no such step in this mode."""
    if kind == "checked" and mode == RUN_MODE_CHECK:
        return True
    if kind == "benchmarked" and mode != RUN_MODE_FULL:
        return True
    return mode == RUN_MODE_SAMPLE and kind in NO_SAMPLE_STEPS


def _reading_problem(_: RunEvent, setting: Setting) -> Frame:
    """Uses COMPILING already, so that a client that knows only the status sees that its submission is under way."""
    message = "Reading the problem definition and choosing its test cases"
    return Frame("COMPILING", {"toolchain": "", "cached": False, "command": None, "message": message, **setting.labels})


def _compiling(event: RunEvent, setting: Setting) -> Frame:
    step = event.compiling
    how = "Using the kept build by" if step.cached else "Compiling with"
    message = f"{how} {step.toolchain or 'a compiler'}"
    fields = {"toolchain": step.toolchain, "cached": step.cached, "command": step.command or None, "message": message}
    return Frame("COMPILING", {**fields, **setting.labels})


def _checking(event: RunEvent, _: Setting) -> Frame:
    total = event.checking.total_tests
    return Frame("CHECKING", {"total_tests": total, "message": f"Checking {counted(total, 'test case')}"})


def _test_result(event: RunEvent, _: Setting) -> Frame:
    result = event.test_result
    return Frame("TEST_RESULT", {"result": test_entry(result), "total_tests": result.total_tests})


def _benchmarking(event: RunEvent, _: Setting) -> Frame:
    step = event.benchmarking
    how = f" ({step.timing_mode})" if step.timing_mode else ""
    message = f"Measuring {counted(step.total_tests, 'test case')}{how}"
    fields = {"total_tests": step.total_tests, "timing_mode": step.timing_mode or None, "message": message}
    return Frame("BENCHMARKING", fields)


def _benchmark_progress(event: RunEvent, setting: Setting) -> Frame:
    """BENCHMARKING again, with the progress; a client that knows only the status sees that it goes on."""
    step = event.benchmark_progress
    stage = benchmark_stage_name(step.stage)
    session = f"session {step.session} of {step.sessions}, " if stage == "MEASURING" else ""
    fields = {
        "total_tests": step.total_tests,
        "timing_mode": setting.timing_mode or None,
        "stage": stage,
        "session": step.session,
        "sessions": step.sessions,
        "test_id": step.test_id,
        "name": step.name,
        "samples": step.samples,
        "message": f"{stage.capitalize()} test case {step.test_id} of {step.total_tests}, {session}"
        f"{counted(step.samples, 'sample')} so far",
    }
    return Frame("BENCHMARKING", fields)


def _benchmark_result(event: RunEvent, setting: Setting) -> Frame:
    result = event.benchmark_result
    entry = {
        **benchmark_entry(result, MAX_RUNS_SHOWN),
        **setting.labels,
        "timing_mode": setting.timing_mode or None,
    }
    return Frame("BENCHMARK_RESULT", {"result": entry, "total_tests": result.total_tests})


def _benchmarked(event: RunEvent, setting: Setting) -> Frame:
    fields = benchmarked_fields(event.benchmarked, "test_results")
    return Frame("BENCHMARKED", {**setting.labels, **fields, "device": event.benchmarked.device or setting.device})


def _profiling(event: RunEvent, setting: Setting) -> Frame:
    step = event.profiling
    message = f"Profiling the kernels with {step.tool}, test case {step.name}"
    return Frame("PROFILING", {"tool": step.tool, "name": step.name, "message": message, **setting.labels})


def _program_output(event: RunEvent, _: Setting) -> Frame:
    return Frame("SANDBOX_OUTPUT", {"stream": event.program_output.stream, "line": event.program_output.line})


_RUN_FRAMES: dict[str, Callable[[RunEvent, Setting], Frame]] = {
    "reading_problem": _reading_problem,
    "compiling": _compiling,
    "compiled": lambda event, _: Frame("COMPILED", compiled_fields(event.compiled)),
    "checking": _checking,
    "test_result": _test_result,
    "checked": lambda event, setting: Frame("CHECKED", {**setting.labels, **checked_fields(event.checked)}),
    "benchmarking": _benchmarking,
    "benchmark_progress": _benchmark_progress,
    "benchmark_result": _benchmark_result,
    "benchmarked": _benchmarked,
    "profiling": _profiling,
    "program_started": lambda _event, _setting: Frame("SANDBOX_RUNNING", {}),
    "program_output": _program_output,
}
