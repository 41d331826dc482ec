"""Every event of the core has its message, and no text from a user can break one."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields, replace
from typing import get_args

import pytest
from wavepool.executor.v1 import run_event_pb2

from services.executor.core.model import events
from services.executor.core.model.isa_report import IsaReport, KernelHint, KernelReport
from services.executor.core.model.run_events import LENGTH, framed, message_of, verdict_of
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import (
    Band,
    BenchmarkResult,
    InstrumentReading,
    ReplacedSample,
    Timing,
)
from services.executor.devices.profiling import Extent, ProfileClock, ProfiledKernel
from vocabulary.roofline import Bound

BROKEN = "kernel \ud800 output"
PASSED = events.TestResult(1, "small", passed=True, total_tests=2)
MEASURED = BenchmarkResult(
    test_id=1,
    name="small",
    total_tests=1,
    runtime_ns=1500.0,
    ci_low_ns=1490.0,
    ci_high_ns=1510.0,
    samples=100,
    converged=True,
    stopped_by="precision",
    min_ns=1400.0,
    p5_ns=1450.0,
    p25_ns=1475.0,
    p75_ns=1525.0,
    p95_ns=1600.0,
    p99_ns=1700.0,
    max_ns=1800.0,
    mad_ns=20.0,
    wall_runtime_ns=2000.0,
    gflops=3.5,
    gbytes_per_second=12.25,
    percent_of_roof=None,
    bound=Bound.MEMORY,
    timing=Timing.VALID,
    sample_ns=(1500.0, 1501.0),
)
PROFILE = events.Profile(
    events.ProfileOutcome.MADE,
    tool="rocprofv3",
    clock=ProfileClock.GPU,
    name="small",
    solution_calls=10,
    kernels=(
        ProfiledKernel(
            "scale",
            Extent(16, 1024, 1),
            vgpr=0,
            calls=10,
            total_ns=20,
            mean_ns=2.0,
            min_ns=1,
            max_ns=3,
            share=1.0,
        ),
    ),
)
BENCHMARKED = events.Benchmarked((MEASURED,), 1500.0, 3.5, Timing.VALID, "cpu")
WRONG = events.WrongAnswer(2.0, 0.5, 3, 100, (events.Mismatch("output", (4, 2), 1.0, float("nan"), float("inf")),))
FINISHED = events.Finished(
    Verdict.WRONG_ANSWER,
    "WRONG_ANSWER",
    "wrong",
    details=BROKEN,
    wrong_answer=WRONG,
    test_results=(PASSED,),
    passed_tests=1,
    total_tests=2,
    sample=events.Sample("{}", "[1]", "[2]", passed=False),
    program=events.ProgramResult(-11, BROKEN, "", truncated=True),
    benchmarked=BENCHMARKED,
    stdout=BROKEN,
    profile=PROFILE,
)
HINT = KernelHint("spills", 3, BROKEN, "why", "advice")
KERNEL = KernelReport(32, 16, 0, 65536, 0, 0, 8, BROKEN, uncounted=("tanhf",), hints=(HINT,))
ISA = IsaReport("clang", BROKEN, {"kernel": KERNEL, BROKEN: KERNEL})
EXAMPLES: list[events.Event] = [
    events.ReadingProblem(),
    events.Compiling("clang", cached=True, command="clang solution.hip"),
    events.Compiled(BROKEN, 12.5, cached=False, isa=ISA),
    events.Checking(2),
    PASSED,
    events.Checked((PASSED,), 1, 1),
    events.Benchmarking(1, "cold"),
    events.BenchmarkProgress(events.BenchmarkStage.MEASURING, 1, 3, 1, "n = 4", 1, 120),
    MEASURED,
    BENCHMARKED,
    events.Profiling("rocprofv3", BROKEN),
    events.ProgramStarted(),
    events.ProgramOutput("stderr", BROKEN, 5),
    FINISHED,
]


def test_there_is_an_example_of_every_event() -> None:
    assert {type(event) for event in EXAMPLES} == set(get_args(events.Event))


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_every_event_has_a_message_of_its_name(event: events.Event) -> None:
    message = message_of(event)

    name = message.WhichOneof("event") or ""
    assert name.replace("_", "") == type(event).__name__.lower()
    assert run_event_pb2.RunEvent.FromString(message.SerializeToString()) == message or "nan" in str(message)


def test_the_last_event_carries_everything() -> None:
    finished = message_of(FINISHED).finished

    assert finished.verdict == run_event_pb2.VERDICT_WRONG_ANSWER
    assert list(finished.wrong_answer.first_mismatches[0].index) == [4, 2]
    assert finished.program.return_code == -11
    assert finished.benchmarked.timing == run_event_pb2.TIMING_VALID
    assert finished.stdout == "kernel ? output"
    assert finished.profile.outcome == run_event_pb2.PROFILE_OUTCOME_MADE
    assert finished.profile.clock == run_event_pb2.PROFILE_CLOCK_GPU
    [kernel] = finished.profile.kernels
    assert (kernel.grid.y, kernel.mean_ns) == (1024, 2.0)
    assert (kernel.HasField("vgpr"), kernel.HasField("sgpr"), kernel.HasField("block")) == (True, False, False)


def test_what_is_absent_stays_absent() -> None:
    finished = message_of(events.Finished(Verdict.ACCEPTED, "CHECKED", "right")).finished

    assert not finished.HasField("wrong_answer")
    assert not finished.HasField("benchmarked")
    assert not finished.HasField("program")
    assert not finished.HasField("sample")


def test_numbers_and_their_bound_are_those_that_were_measured() -> None:
    result = message_of(MEASURED).benchmark_result

    assert (result.runtime_ns, result.mad_ns, result.samples) == (1500.0, 20.0, 100)
    assert result.percent_of_roof == 0.0
    assert result.bound == run_event_pb2.BOUND_MEMORY
    assert list(result.sample_ns) == [1500.0, 1501.0]


def test_what_is_not_known_is_not_set() -> None:
    result = message_of(MEASURED).benchmark_result
    for name in ("bimodality", "audit_ratio", "hot_ns", "floor_ns", "arithmetic_intensity", "clock_mhz"):
        assert not result.HasField(name), name


def test_the_evidence_of_a_time_goes_along() -> None:
    evidence = replace(
        MEASURED,
        timing=Timing.UNSTABLE,
        session_median_ns=(1400.0, 1500.0, 1600.0),
        audit_ratio=1.02,
        clock_mhz=Band(2000.0, 2050.0, 2100.0),
        replaced=(ReplacedSample(1, 7, 1900.0, "clock"),),
        session_samples=(1, 1),
        instruments=(InstrumentReading(1, 2.5, clock_mhz=2050.0),),
    )
    result = message_of(evidence).benchmark_result
    assert result.timing == run_event_pb2.TIMING_UNSTABLE
    assert list(result.session_median_ns) == [1400.0, 1500.0, 1600.0]
    assert (result.audit_ratio, result.clock_mhz.median) == (1.02, 2050.0)
    assert list(result.session_samples) == [1, 1]
    [reading] = result.instruments
    assert (reading.sample, reading.time_ms, reading.clock_mhz) == (1, 2.5, 2050.0)
    assert not reading.HasField("power_watts")
    assert (result.replaced[0].session, result.replaced[0].index, result.replaced[0].cause) == (1, 7, "clock")


def test_every_field_of_a_measured_case_has_a_field_in_the_proto() -> None:
    """Front ends must be able to show all fields; only a field that follows from others is left out."""
    here = {field.name for field in fields(BenchmarkResult)}
    there = {field.name for field in run_event_pb2.BenchmarkResult.DESCRIPTOR.fields}
    assert here - there == {"iqr_ns"}


@pytest.mark.parametrize("timing", Timing)
def test_every_timing_has_its_number_and_its_reason_goes_along(timing: Timing) -> None:
    case = replace(MEASURED, timing=timing, unproven_because=BROKEN, shown_interval=0.2)
    run = replace(BENCHMARKED, timing=timing, unproven_because=BROKEN, shown_interval=0.2, results=(case,))
    reported = message_of(run).benchmarked
    for message in (reported, reported.results[0]):
        assert run_event_pb2.Timing.Name(message.timing) == f"TIMING_{timing}"
        assert (message.unproven_because, message.shown_interval) == ("kernel ? output", 0.2)


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_its_number(verdict: Verdict) -> None:
    finished = message_of(events.Finished(verdict, "", "")).finished

    assert run_event_pb2.Verdict.Name(finished.verdict) == f"VERDICT_{verdict}"
    assert verdict_of(finished) is verdict


@pytest.mark.parametrize("stage", events.BenchmarkStage)
def test_every_stage_has_its_number(stage: events.BenchmarkStage) -> None:
    sent = message_of(events.BenchmarkProgress(stage, 1, 3, 1, "n = 4", 1)).benchmark_progress

    assert run_event_pb2.BenchmarkStage.Name(sent.stage) == f"BENCHMARK_STAGE_{stage}"


@pytest.mark.parametrize("bound", Bound)
def test_every_bound_has_its_number(bound: Bound) -> None:
    sent = message_of(replace(MEASURED, bound=bound)).benchmark_result

    known = "UNSPECIFIED" if bound is Bound.UNKNOWN else bound.name
    assert run_event_pb2.Bound.Name(sent.bound) == f"BOUND_{known}"


def test_kernels_are_reported_by_name_with_all_figures_and_hints() -> None:
    isa = message_of(events.Compiled("", 12.5, cached=False, isa=ISA)).compiled.isa

    assert [(kernel.name, kernel.vgpr, kernel.occupancy) for kernel in isa.kernels] == [
        ("kernel", 32, 8),
        ("kernel ? output", 32, 8),
    ]
    assert (list(isa.kernels[0].uncounted), isa.kernels[0].hints[0].what) == (["tanhf"], "kernel ? output")
    here = {field.name for kind in (KernelReport, KernelHint) for field in fields(kind)}
    there = {
        field.name
        for kind in (run_event_pb2.KernelReport, run_event_pb2.KernelHint)
        for field in kind.DESCRIPTOR.fields
    }
    assert there - here == {"name"}


def test_a_report_goes_along_as_json_for_the_executor_to_sign() -> None:
    report = {"b": (1, 0.1), "a": float("nan"), "text": BROKEN}
    finished = message_of(replace(FINISHED, report=report, unkillable=True)).finished

    assert json.loads(finished.unsigned_report) == {"a": "NaN", "b": [1, 0.1], "text": "kernel ? output"}
    assert finished.unkillable


def test_a_message_stands_in_the_pipe_after_its_length() -> None:
    message = message_of(PASSED)
    data = framed(message.SerializeToString())

    assert LENGTH.unpack(data[: LENGTH.size]) == (len(data) - LENGTH.size,)
    assert run_event_pb2.RunEvent.FromString(data[LENGTH.size :]) == message


def test_the_listing_is_compressed_and_fit_for_any_text() -> None:
    listing = f"kernel:\n  ; 1: {BROKEN}\n" * 100
    compiled = events.Compiled("", 12.5, cached=False, isa_listing=listing)
    data = message_of(compiled).compiled.isa_listing_zlib
    assert len(data) < len(listing) / 4
    assert zlib.decompress(data).decode() == listing.encode(errors="replace").decode()
    assert message_of(replace(compiled, isa_listing="")).compiled.isa_listing_zlib == b""
    assert message_of(compiled).compiled.duration.ToMicroseconds() == 12_500


@pytest.mark.parametrize("verified", [None, True, False])
def test_whether_the_caches_were_empty_is_said_or_left_open(verified: bool | None) -> None:
    reported = message_of(replace(BENCHMARKED, flush_verified=verified)).benchmarked
    assert (reported.flush_verified if reported.HasField("flush_verified") else None) is verified


def test_the_mode_of_times_is_reported() -> None:
    assert message_of(replace(BENCHMARKED, timing_mode="first-call")).benchmarked.timing_mode == "first-call"
