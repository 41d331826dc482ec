"""Frames of the steps on the machine, and the parts that they share with a job's last frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

from google.protobuf.message import Message
from typing_extensions import get_type_hints
from wavepool.executor.v1 import run_event_pb2
from wavepool.executor.v1.run_event_pb2 import (
    Band,
    Benchmarked,
    BenchmarkResult,
    Extent,
    IsaReport,
    Profile,
    RunEvent,
    TestResult,
)
from wavepool.scheduler.v1.scheduler_pb2 import JobEvent
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL, RUN_MODE_SAMPLE

from gateway.submissions import event_schemas as schemas
from gateway.words.enum_names import benchmark_stage_name
from gateway.words.proto_time import seconds_of
from gateway.words.shown import NS_PER_MS, fields_of
from vocabulary.counts import counted
from vocabulary.intervals import interval_of_mean

CI_CONFIDENCE = 0.95
INSTRUMENTS = ("clock_mhz", "temperature_celsius", "power_watts")
TENSARAS_NAMES: dict[Literal["clock_mhz", "temperature_celsius"], str] = {
    "clock_mhz": "sm_clock_mhz",
    "temperature_celsius": "temp_c",
}
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


def frame_from(event: Any, *messages: Message, **own: object) -> Frame:  # noqa: ANN401  typed dictionaries
    """The frame that the schema of an event describes, with the status that it names; `fields_of` has the rules."""
    return Frame(_status_of(event), fields_of(event, *messages, **own))


@cache
def _status_of(event: Any) -> str:  # noqa: ANN401
    (status,) = get_args(get_type_hints(event)["status"])
    return status


def test_entry(result: TestResult) -> dict[str, Any]:
    """The outcome of one test case."""
    status = "PASSED" if result.passed else "NOT_RUN" if result.not_run else "FAILED"
    return fields_of(schemas.TestOutcome, result, status=status)


def test_entries(results: Iterable[TestResult]) -> list[dict[str, Any]]:
    """The outcomes of all test cases."""
    return [test_entry(result) for result in results]


def isa_fields(isa: IsaReport) -> dict[str, Any]:
    """The MI300X compiler's report on the source, whether or not it runs on such a GPU."""
    return {
        "isa": {kernel.name: fields_of(schemas.KernelIsa, kernel) for kernel in isa.kernels},
        "isa_toolchain": isa.toolchain or None,
        "isa_note": isa.note or None,
    }


def benchmark_entry(result: BenchmarkResult, max_runs: int = 0) -> dict[str, Any]:
    """One test case's times and the evidence for them, with up to `max_runs` of its samples."""
    bands = {name: _band(getattr(result, name)) for name in INSTRUMENTS if result.HasField(name)}
    runs = _evenly_spaced(result.sample_ns, max_runs)
    return fields_of(
        schemas.CaseTime,
        result,
        ci={
            "low_ms": result.ci_low_ns / NS_PER_MS,
            "high_ms": result.ci_high_ns / NS_PER_MS,
            "confidence": CI_CONFIDENCE,
        },
        session_medians_ms=[ns / NS_PER_MS for ns in result.session_median_ns],
        runs=[{"run_index": index, "runtime_ms": ns / NS_PER_MS} for index, ns in runs],
        replaced_samples=len(result.replaced),
        gpu_metrics=bands | _flat_metrics(bands),
    )


def benchmarked_fields(benchmarked: Benchmarked, results_key: str) -> dict[str, Any]:
    """Fields of BENCHMARKED, and of ACCEPTED, which calls the results `benchmark_results`."""
    return {
        results_key: [benchmark_entry(result) for result in benchmarked.results],
        **fields_of(
            schemas.TimedCases,
            benchmarked,
            avg_runtime_ms=benchmarked.mean_runtime_ns / NS_PER_MS,
            avg_runtime_interval=interval_of_mean(benchmarked.results) or None,
            avg_gflops=benchmarked.mean_gflops,
            total_tests=len(benchmarked.results),
        ),
    }


def profile_fields(profile: Profile) -> dict[str, Any]:
    """A submission's kernels by the device's profiler, or why there are none."""
    kernels = [
        fields_of(
            schemas.ProfiledKernel,
            kernel,
            grid=_extent(kernel.grid) if kernel.HasField("grid") else None,
            block=_extent(kernel.block) if kernel.HasField("block") else None,
        )
        for kernel in profile.kernels
    ]
    return fields_of(schemas.Profile, profile, kernels=kernels)


def _extent(extent: Extent) -> list[int]:
    return [extent.x, extent.y, extent.z]


def _band(band: Band) -> dict[str, float]:
    # Events from before means were stored have only the median.
    return {"low": band.low, "median": band.median, "high": band.high, "mean": band.mean or band.median}


def _flat_metrics(bands: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The same figures under the names that the charts of Tensara's front ends read."""
    flat: dict[str, float] = {}
    for name, theirs in TENSARAS_NAMES.items():
        if band := bands.get(name):
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
    return writer(getattr(event, kind), setting) if writer else None


def _is_hidden(kind: str, mode: int) -> bool:
    """True if the job's last frame repeats the step, or if people expect no such step in this mode."""
    if kind == "checked" and mode == RUN_MODE_CHECK:
        return True
    if kind == "benchmarked" and mode != RUN_MODE_FULL:
        return True
    return mode == RUN_MODE_SAMPLE and kind in NO_SAMPLE_STEPS


def _reading_problem(_: run_event_pb2.ReadingProblem, setting: Setting) -> Frame:
    """Uses COMPILING already, so that a client that knows only the status sees that its submission is under way."""
    message = "Reading the problem definition and choosing its test cases"
    return Frame("COMPILING", {"toolchain": "", "cached": False, "command": None, "message": message, **setting.labels})


def _compiling(step: run_event_pb2.Compiling, setting: Setting) -> Frame:
    how = "Using the kept build by" if step.cached else "Compiling with"
    message = f"{how} {step.toolchain or 'a compiler'}"
    return frame_from(schemas.CompilingEvent, step, message=message, **setting.labels)


def _compiled(step: run_event_pb2.Compiled, _: Setting) -> Frame:
    milliseconds = seconds_of(step.duration) * 1000
    return frame_from(schemas.CompiledEvent, step, duration_ms=milliseconds, **isa_fields(step.isa))


def _checking(step: run_event_pb2.Checking, _: Setting) -> Frame:
    return frame_from(schemas.CheckingEvent, step, message=f"Checking {counted(step.total_tests, 'test case')}")


def _test_result(result: TestResult, _: Setting) -> Frame:
    return frame_from(schemas.TestResultEvent, result, result=test_entry(result))


def _checked(step: run_event_pb2.Checked, setting: Setting) -> Frame:
    return frame_from(schemas.CheckedEvent, step, test_results=test_entries(step.test_results), **setting.labels)


def _benchmarking(step: run_event_pb2.Benchmarking, _: Setting) -> Frame:
    how = f" ({step.timing_mode})" if step.timing_mode else ""
    message = f"Measuring {counted(step.total_tests, 'test case')}{how}"
    return frame_from(schemas.BenchmarkingEvent, step, timing_mode=step.timing_mode or None, message=message)


def _benchmark_progress(step: run_event_pb2.BenchmarkProgress, setting: Setting) -> Frame:
    """BENCHMARKING again, with the progress; a client that knows only the status sees that it goes on."""
    stage = benchmark_stage_name(step.stage)
    session = f"session {step.session} of {step.sessions}, " if stage == "MEASURING" else ""
    message = f"{stage.capitalize()} test case {step.test_id} of {step.total_tests}, {session}"
    message += f"{counted(step.samples, 'sample')} so far"
    return frame_from(schemas.BenchmarkingEvent, step, timing_mode=setting.timing_mode or None, message=message)


def _benchmark_result(result: BenchmarkResult, setting: Setting) -> Frame:
    entry = benchmark_entry(result, MAX_RUNS_SHOWN)
    own = {**entry, **setting.labels, "timing_mode": setting.timing_mode or None}
    return frame_from(schemas.BenchmarkResultEvent, result, result=own)


def _benchmarked(step: Benchmarked, setting: Setting) -> Frame:
    fields = benchmarked_fields(step, "test_results")
    return Frame("BENCHMARKED", {**setting.labels, **fields, "device": step.device or setting.device})


def _profiling(step: run_event_pb2.Profiling, setting: Setting) -> Frame:
    message = f"Profiling the kernels with {step.tool}, test case {step.name}"
    return frame_from(schemas.ProfilingEvent, step, message=message, **setting.labels)


_RUN_FRAMES: dict[str, Callable[[Any, Setting], Frame]] = {
    "reading_problem": _reading_problem,
    "compiling": _compiling,
    "compiled": _compiled,
    "checking": _checking,
    "test_result": _test_result,
    "checked": _checked,
    "benchmarking": _benchmarking,
    "benchmark_progress": _benchmark_progress,
    "benchmark_result": _benchmark_result,
    "benchmarked": _benchmarked,
    "profiling": _profiling,
    "program_started": lambda _step, _setting: Frame("SANDBOX_RUNNING", {}),
    "program_output": lambda step, _: frame_from(schemas.SandboxOutputEvent, step),
}
