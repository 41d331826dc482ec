"""Turns a job's events into the frames that people see; pure: the same log gives the same frames, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wavepool.executor.v1.executor_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL, RUN_MODE_SAMPLE

from gateway.submissions.end_frames import end_frame
from gateway.submissions.run_frames import (
    MAX_RUNS_SHOWN,
    benchmark_entry,
    benchmarked_fields,
    checked_fields,
    compiled_fields,
    test_entry,
)
from gateway.words.enum_names import benchmark_stage_name, start_kind_name
from gateway.words.json_values import to_json
from gateway.words.machine_figures import machine_figures
from gateway.words.proto_time import milliseconds_of, seconds_of
from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from wavepool.executor.v1.run_event_pb2 import RunEvent
    from wavepool.scheduler.v1.scheduler_pb2 import JobEvent

NO_SAMPLE_STEPS = frozenset({"compiled", "checking", "test_result", "checked"})
"""Front ends expect of a sample run IN_QUEUE, COMPILING and then its result."""


@dataclass(frozen=True)
class Setting:
    """What a frame needs to know from before its event: how the job runs, and on what."""

    mode: int
    device: str = ""
    device_title: str = ""
    timing_mode: str = ""
    """How calls are timed, once that has begun."""

    def after(self, event: JobEvent) -> Setting:
        """The setting for the events that follow."""
        if event.HasField("provisioning") and event.provisioning.HasField("machine"):
            machine = event.provisioning.machine
            return replace(self, device=machine.device, device_title=machine.device_title)
        if event.HasField("run") and event.run.HasField("benchmarking"):
            return replace(self, timing_mode=event.run.benchmarking.timing_mode)
        return self

    @property
    def labels(self) -> dict[str, Any]:
        """Names the hardware that a result is from, so that a CPU's times pass for nothing else."""
        return {"device": self.device or None, "device_title": self.device_title or None}


@dataclass(frozen=True)
class Frame:
    """One event of the stream, before it is written out."""

    status: str
    fields: dict[str, Any]


def frame_of(event: JobEvent, setting: Setting) -> Frame | None:
    """The frame that shows an event; None where it shows nothing, as for kinds that are newer than this gateway."""
    frame = _frame(event, setting)
    if frame is None:
        return None
    common = {
        "submission_id": event.job_id,
        "timestamp": milliseconds_of(event.time),
        "attempt": event.attempt,
        "cost_usd": dollars_of(event.cost_micros),
    }
    return Frame(frame.status, {**common, **frame.fields})


def encode(seq: int | None, frame: Frame) -> bytes:
    """The frame as it goes over the wire; without `seq` it has no id, and a client resumes before it."""
    identity = b"" if seq is None else b"id: %d\n" % seq
    data = to_json({"status": frame.status, **frame.fields})
    return b"event: %s\n%sdata: %s\n\n" % (frame.status.encode(), identity, data)


def _frame(event: JobEvent, setting: Setting) -> Frame | None:
    match event.WhichOneof("event"):
        case "queued":
            return _queued(event)
        case "provisioning":
            return _provisioning(event)
        case "retrying":
            message = f"In the queue again, as the attempt was lost through no fault of yours: {event.retrying.reason}"
            return Frame("IN_QUEUE", {**_queue_place(event.job_id), "message": message})
        case "run":
            return _run(event.run, setting)
        case "ended":
            status, fields = end_frame(setting.mode, event.ended.state, event.ended.result)
            benchmarked = event.ended.result.benchmarked.device
            labels = {**setting.labels, **({"device": benchmarked} if benchmarked else {})}
            labels["machine_gpu_type"] = event.ended.machine_gpu_type or None
            return Frame(status, {**labels, **fields, "cost_usd": dollars_of(event.ended.cost_micros), "final": True})
        case _:
            return None


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 sample`, `20 samples`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _queue_place(job_id: str) -> dict[str, Any]:
    return {
        "id": job_id,
        "position": None,
        "eta_p50_seconds": None,
        "eta_p90_seconds": None,
    }


def _queued(event: JobEvent) -> Frame:
    queued = event.queued
    place = {
        "position": queued.position,
        "eta_p50_seconds": seconds_of(queued.eta_p50) if queued.HasField("eta_p50") else None,
        "eta_p90_seconds": seconds_of(queued.eta_p90) if queued.HasField("eta_p90") else None,
        "message": queued.message,
    }
    return Frame("IN_QUEUE", {**_queue_place(event.job_id), **place})


def _provisioning(event: JobEvent) -> Frame:
    step = event.provisioning
    fields: dict[str, Any] = {
        "vm_state": start_kind_name(step.start_kind) if step.start_kind else None,
        "stage": step.stage,
        "machine": machine_figures(step.machine) if step.HasField("machine") else None,
        "elapsed_seconds": seconds_of(step.elapsed),
        "estimate_seconds": seconds_of(step.estimate) if step.HasField("estimate") else None,
        "estimate_p90_seconds": seconds_of(step.estimate_p90) if step.HasField("estimate_p90") else None,
        "message": step.message,
    }
    return Frame("PROVISIONING", fields)


def _run(event: RunEvent, setting: Setting) -> Frame | None:
    kind = event.WhichOneof("event")
    if kind is None or _is_hidden(kind, setting.mode):
        return None
    writer = _RUN_FRAMES.get(kind)
    return writer(event, setting) if writer else None


def _is_hidden(kind: str, mode: int) -> bool:
    """Whether the job's last frame says it all again, or this mode has no such step for people."""
    if kind == "checked" and mode == RUN_MODE_CHECK:
        return True
    if kind == "benchmarked" and mode != RUN_MODE_FULL:
        return True
    return mode == RUN_MODE_SAMPLE and kind in NO_SAMPLE_STEPS


def _reading_problem(_: RunEvent, setting: Setting) -> Frame:
    """COMPILING already: a client that knows the status alone sees that its submission is under way."""
    message = "Reading the problem definition and choosing its test cases"
    return Frame("COMPILING", {"toolchain": "", "cached": False, "message": message, **setting.labels})


def _compiling(event: RunEvent, setting: Setting) -> Frame:
    step = event.compiling
    how = "Using the kept build by" if step.cached else "Compiling with"
    fields = {"toolchain": step.toolchain, "cached": step.cached, "message": f"{how} {step.toolchain or 'a compiler'}"}
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
    """BENCHMARKING again, with how far it has come: who knows the status alone sees that it goes on."""
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
    "program_started": lambda _event, _setting: Frame("SANDBOX_RUNNING", {}),
    "program_output": _program_output,
}
