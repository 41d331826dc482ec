"""The parts of a shared submission that other users see: its code and its result.

Fields are picked by name, here and in `SharedFields`, so that a new one stays private until it is added. What
concerns money, accounts, queues and machines is not among them, nor texts of ours, which may speak of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_type_hints

from pydantic import Field
from typing_extensions import TypedDict
from wavepool.scheduler.v1.scheduler_pb2 import Job

from gateway.submissions import event_schemas as events
from gateway.submissions.run_frames import Frame
from gateway.submissions.views import CodeFields, SharedFields, submission_detail_of
from gateway.words.answer_words import Documented
from vocabulary.verdicts import is_about_the_submission

_OF_EVERY_FRAME = frozenset({"submission_id", "timestamp", "attempt"})
_OF_RESULTS = frozenset(
    {
        *("verdict", "message", "details", "reason", "stdout", "stderr", "return_code", "truncated"),
        *("test_results", "passed_tests", "total_tests", "debug_info", "input", "output", "expected_output"),
        *("isa", "isa_toolchain", "isa_note", "profile", "benchmark_results"),
        *("avg_runtime_ms", "avg_runtime_interval", "avg_gflops"),
        *("timing", "unproven_because", "shown_interval", "converged", "simulated", "timing_mode", "flush_verified"),
    }
)
_OF_STEPS = frozenset(
    {
        *("device", "device_title", "machine_gpu_type", "toolchain", "cached", "command", "warnings", "duration_ms"),
        *("result", "stage", "session", "sessions", "test_id", "name", "samples", "tool", "stream", "line", "final"),
    }
)
_TEXTS = frozenset({"message", "details", "reason", "stdout", "stderr"})
_WAITING = frozenset({"IN_QUEUE", "PROVISIONING"})


def _shared(schema: Any, wanted: frozenset[str]) -> Any:  # noqa: ANN401 - typed dictionaries have no common type
    """The schema of what other users see of a frame, or of a part of it."""
    hints = get_type_hints(schema, include_extras=True)
    fields = {name: hint for name, hint in hints.items() if name in wanted or name == "status"}
    made = cast("Any", TypedDict)(f"Shared{schema.__name__}", fields)
    made.__doc__ = schema.__doc__
    return made


class SharedWaitingEvent(TypedDict):
    """It waits for its turn, or for a machine."""

    status: Literal["IN_QUEUE", "PROVISIONING"]
    submission_id: str
    timestamp: Annotated[int, Field(description="Milliseconds since 1970.")]
    attempt: int


_STEPS = (
    events.CompilingEvent,
    events.CompiledEvent,
    events.CheckingEvent,
    events.TestResultEvent,
    events.CheckedEvent,
    events.BenchmarkingEvent,
    events.BenchmarkResultEvent,
    events.BenchmarkedEvent,
    events.ProfilingEvent,
    events.SandboxRunningEvent,
    events.SandboxOutputEvent,
    events.EndedEvent,
)
_SharedEvent: Any = Annotated[
    Union[
        (
            SharedWaitingEvent,
            *(_shared(step, _OF_EVERY_FRAME | _OF_RESULTS | _OF_STEPS) for step in _STEPS),
            events.StreamBrokenEvent,
            events.HeartbeatEvent,
        )
    ],
    Field(description="The data of an event of another account's submission that is shared with you."),
]


if TYPE_CHECKING:
    SharedSubmissionEvent = dict[str, Any]
else:
    SharedSubmissionEvent = _SharedEvent


class SharedSubmission(SharedFields, CodeFields):
    """Another account's submission, as far as its owner shares it."""

    own: Literal[False] = False
    result: Annotated[
        Annotated[dict[str, Any], Documented(_shared(events.SubmissionResult, _OF_RESULTS))] | None,
        Field(description="The fields of the last event; null before."),
    ]


def shared_submission_of(job: Job) -> SharedSubmission:
    """Another account's job, with code and result."""
    detail = submission_detail_of(job)
    shared = {name: getattr(detail, name) for name in (*SharedFields.model_fields, *CodeFields.model_fields)}
    if detail.verdict is None or not is_about_the_submission(detail.verdict):
        shared["message"] = ""
    result = _picked(detail.result, _OF_RESULTS) if detail.result is not None else None
    return SharedSubmission(**shared, result=result)


def shared_frame(frame: Frame) -> Frame:
    """The frame as other users see it."""
    wanted = _OF_EVERY_FRAME if frame.status in _WAITING else _OF_EVERY_FRAME | _OF_RESULTS | _OF_STEPS
    return Frame(frame.status, _picked(frame.fields, wanted))


def _picked(fields: Mapping[str, Any], wanted: frozenset[str]) -> dict[str, Any]:
    """The wanted fields; texts about something else than the submission's own doing are empty."""
    is_ours = "verdict" in fields and not is_about_the_submission(fields["verdict"])
    return {name: "" if is_ours and name in _TEXTS else value for name, value in fields.items() if name in wanted}
