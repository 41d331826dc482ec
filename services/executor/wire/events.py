"""Events from domain to proto. Text from user code is made fit for protobuf, which takes only well-formed Unicode."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Any

from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import run_event_pb2

from servicekit.proto_time import duration_to_proto, instant_to_proto
from services.executor.core.model import events
from services.executor.core.timing.benchmark_result import BenchmarkResult
from services.executor.wire.benchmark import benchmark_result_to_proto, benchmarked_to_proto
from services.executor.wire.isa import isa_to_proto, listing_to_proto, well_formed

if TYPE_CHECKING:
    from services.executor.runs.run import RunEvent


def run_event_to_proto(run_event: RunEvent) -> run_event_pb2.RunEvent:
    """One event with its number and time."""
    body: Any = _body(run_event.event)
    if isinstance(run_event.event, events.Finished):
        body.billable.CopyFrom(duration_to_proto(run_event.billable))
    name = next(f.name for f in run_event_pb2.RunEvent.DESCRIPTOR.fields if f.message_type is body.DESCRIPTOR)
    return run_event_pb2.RunEvent(seq=run_event.seq, time=instant_to_proto(run_event.time), **{name: body})


@singledispatch
def _body(event: object) -> Any:  # noqa: ANN401  any of the messages of the oneof
    raise TypeError(f"no message for {type(event).__name__}")


@_body.register
def _(_event: events.ReadingProblem) -> run_event_pb2.ReadingProblem:
    return run_event_pb2.ReadingProblem()


@_body.register
def _(event: events.Compiling) -> run_event_pb2.Compiling:
    return run_event_pb2.Compiling(toolchain=well_formed(event.toolchain), cached=event.cached)


@_body.register
def _(event: events.Compiled) -> run_event_pb2.Compiled:
    duration = Duration()
    duration.FromNanoseconds(round(event.duration_ms * 1e6))
    return run_event_pb2.Compiled(
        warnings=well_formed(event.warnings),
        duration=duration,
        cached=event.cached,
        isa=isa_to_proto(event.isa),
        isa_listing_zlib=listing_to_proto(event.isa_listing),
    )


@_body.register
def _(event: events.Checking) -> run_event_pb2.Checking:
    return run_event_pb2.Checking(total_tests=event.total_tests, seed_commitment=event.seed_commitment)


@_body.register
def _(event: events.TestResult) -> run_event_pb2.TestResult:
    return run_event_pb2.TestResult(
        test_id=event.test_id, name=well_formed(event.name), passed=event.passed, total_tests=event.total_tests
    )


@_body.register
def _(event: events.Checked) -> run_event_pb2.Checked:
    return run_event_pb2.Checked(
        test_results=map(_body, event.test_results),
        passed_tests=event.passed_tests,
        total_tests=event.total_tests,
    )


@_body.register
def _(event: events.Benchmarking) -> run_event_pb2.Benchmarking:
    return run_event_pb2.Benchmarking(total_tests=event.total_tests, timing_mode=event.timing_mode)


@_body.register
def _(event: events.BenchmarkProgress) -> run_event_pb2.BenchmarkProgress:
    return run_event_pb2.BenchmarkProgress(
        stage=run_event_pb2.BenchmarkStage.Value(f"BENCHMARK_STAGE_{event.stage}"),
        session=event.session,
        sessions=event.sessions,
        test_id=event.test_id,
        name=well_formed(event.name),
        total_tests=event.total_tests,
        samples=event.samples,
    )


@_body.register
def _(event: BenchmarkResult) -> run_event_pb2.BenchmarkResult:
    return benchmark_result_to_proto(event)


@_body.register
def _(event: events.Benchmarked) -> run_event_pb2.Benchmarked:
    return benchmarked_to_proto(event)


@_body.register
def _(_event: events.ProgramStarted) -> run_event_pb2.ProgramStarted:
    return run_event_pb2.ProgramStarted()


@_body.register
def _(event: events.ProgramOutput) -> run_event_pb2.ProgramOutput:
    return run_event_pb2.ProgramOutput(stream=event.stream, line=well_formed(event.line))


@_body.register
def _(event: events.Finished) -> run_event_pb2.Finished:
    return run_event_pb2.Finished(
        verdict=run_event_pb2.Verdict.Value(f"VERDICT_{event.verdict}"),
        message=well_formed(event.message),
        details=well_formed(event.details),
        reason=well_formed(event.reason),
        wrong_answer=_wrong_answer(event.wrong_answer) if event.wrong_answer else None,
        test_results=map(_body, event.test_results),
        passed_tests=event.passed_tests,
        total_tests=event.total_tests,
        sample=_sample(event.sample) if event.sample else None,
        program=_program(event.program) if event.program else None,
        benchmarked=_body(event.benchmarked) if event.benchmarked else None,
        stdout=well_formed(event.stdout),
        stderr=well_formed(event.stderr),
        isa=isa_to_proto(event.isa) if event.isa else None,
    )


def _wrong_answer(answer: events.WrongAnswer) -> run_event_pb2.WrongAnswer:
    mismatches = [
        run_event_pb2.Mismatch(
            output=mismatch.output,
            index=mismatch.index,
            expected=mismatch.expected,
            actual=mismatch.actual,
            difference=mismatch.difference,
        )
        for mismatch in answer.first_mismatches
    ]
    return run_event_pb2.WrongAnswer(
        max_difference=answer.max_difference,
        mean_difference=answer.mean_difference,
        mismatch_count=answer.mismatch_count,
        element_count=answer.element_count,
        first_mismatches=mismatches,
    )


def _sample(sample: events.Sample) -> run_event_pb2.Sample:
    return run_event_pb2.Sample(
        input_json=well_formed(sample.input_json),
        output_json=well_formed(sample.output_json),
        expected_output_json=well_formed(sample.expected_output_json),
        passed=sample.passed,
    )


def _program(program: events.ProgramResult) -> run_event_pb2.ProgramResult:
    return run_event_pb2.ProgramResult(
        return_code=program.return_code,
        stdout=well_formed(program.stdout),
        stderr=well_formed(program.stderr),
        truncated=program.truncated,
    )
