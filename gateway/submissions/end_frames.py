"""The last frame of a job, which depends on its mode and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from wavepool.executor.v1.run_event_pb2 import VERDICT_UNSPECIFIED, Finished
from wavepool.scheduler.v1.scheduler_pb2 import JOB_STATE_CANCELLED
from wavepool.submission.v1.submission_pb2 import RUN_MODE_SAMPLE, RUN_MODE_SANDBOX

from gateway.submissions.debug_info import debug_info
from gateway.submissions.event_schemas import Outcome, SubmissionResult
from gateway.submissions.run_frames import benchmarked_fields, isa_fields, profile_fields, test_entries
from gateway.submissions.verdicts import final_status
from gateway.words.enum_names import verdict_name
from gateway.words.json_values import from_json
from gateway.words.shown import fields_of


def end_frame(mode: int, state: int, result: Finished) -> tuple[str, dict[str, Any]]:
    """The status and the fields of a job's last frame."""
    status = final_status(mode, state, result.verdict)
    if mode == RUN_MODE_SANDBOX:
        specific = fields_of(SubmissionResult, result.program) if result.HasField("program") else {}
    elif mode == RUN_MODE_SAMPLE and result.HasField("sample"):
        specific = _sample_fields(result)
    else:
        specific = _test_fields(status, result)
    return status, {**_verdict_fields(state, result), **specific}


def _verdict_fields(state: int, result: Finished) -> dict[str, Any]:
    cancelled = state == JOB_STATE_CANCELLED and result.verdict == VERDICT_UNSPECIFIED
    return fields_of(
        Outcome,
        result,
        verdict="CANCELLED" if cancelled else verdict_name(result.verdict),
        message=result.message or ("The submission was cancelled." if cancelled else ""),
        has_report=bool(result.signed_report),
    )


def _test_fields(status: str, result: Finished) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "test_results": test_entries(result.test_results),
        "passed_tests": result.passed_tests,
        "total_tests": result.total_tests,
    }
    if result.HasField("wrong_answer"):
        fields["debug_info"] = debug_info(result.wrong_answer, result.message)
    if result.HasField("isa"):
        fields |= isa_fields(result.isa)
    if result.HasField("profile"):
        fields["profile"] = profile_fields(result.profile)
    if result.HasField("benchmarked"):
        key = "test_results" if status == "BENCHMARKED" else "benchmark_results"
        fields |= benchmarked_fields(result.benchmarked, key)
        fields["total_tests"] = result.total_tests or fields["total_tests"]
    return fields


def _sample_fields(result: Finished) -> dict[str, Any]:
    sample = result.sample
    return {
        "input": from_json(sample.input_json),
        "output": _outputs(sample.output_json),
        "expected_output": _outputs(sample.expected_output_json),
        "debug_info": debug_info(result.wrong_answer, result.message) if result.HasField("wrong_answer") else {},
    }


def _outputs(text: str) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """The value of a single output; several outputs as `{multi, names, values}`."""
    parsed = from_json(text)
    if not isinstance(parsed, dict):
        return parsed
    values = cast("Mapping[str, Any]", parsed)
    if len(values) == 1:
        return next(iter(values.values()))
    return {"multi": True, "names": list(values), "values": list(values.values())}
