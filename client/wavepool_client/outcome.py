"""The end of a submission, for scripts and people."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from wavepool_client.exit_codes import ExitCode
from wavepool_client.text.timing import timing_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wavepool_client.http.event_stream import Event

# The client imports nothing of Wavepool. `vocabulary/verdicts.py` has the table; its test compares these copies.
SUCCESSES = frozenset({"ACCEPTED", "CHECKED", "BENCHMARKED", "PASSED", "SANDBOX_SUCCESS"})
SAMPLE_ONLY = "SAMPLE_ONLY"
OUR_FAULTS = frozenset({"ERROR", "RATE_LIMIT_EXCEEDED"})
AUTHORS_VERDICTS = frozenset({"TIMING_INVALID", "UNSTABLE", "PROBLEM_ERROR"})
"""Verdicts about the submission although their status is ERROR."""


@dataclass(frozen=True)
class Result:
    """The end of a submission.

    `status` is the name of the last event, for example ACCEPTED, WRONG_ANSWER or COMPILE_ERROR; `verdict` is our more
    precise name. Times are None if the submission was not benchmarked.
    """

    id: str
    status: str
    verdict: str
    message: str
    details: str = ""
    timing: str | None = None
    """Shows if the time ranks; it is separate from the verdict on the answers. Only VALID ranks; the others are
    INVALID, UNSTABLE, UNPROVEN, or a name from a newer gateway."""
    avg_runtime_ms: float | None = None
    avg_gflops: float | None = None
    cost_usd: float | None = None
    billable_seconds: float | None = None
    """The time that the cost is charged for."""
    passed_tests: int | None = None
    total_tests: int | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    """All data of the last event."""

    @property
    def accepted(self) -> bool:
        """True if every requested stage passed."""
        return self.status in SUCCESSES

    @property
    def exit_code(self) -> ExitCode:
        """The exit status for this result."""
        if self.accepted:
            return ExitCode.ACCEPTED
        if self.status == SAMPLE_ONLY:
            return ExitCode.SAMPLE_ONLY
        is_ours = self.status in OUR_FAULTS and self.verdict not in AUTHORS_VERDICTS
        return ExitCode.UNAVAILABLE if is_ours else ExitCode.NOT_ACCEPTED

    @property
    def is_valid(self) -> bool:
        """True if the time may be called valid; false if its interval is shown instead."""
        return self.accepted and timing_text(self.data) == "VALID"

    def as_json(self) -> dict[str, Any]:
        """The result as one JSON object, without the repetitions in `data`."""
        fields = {key: value for key, value in asdict(self).items() if key != "data" and value is not None}
        return {**fields, "accepted": self.accepted, **{k: v for k, v in self.data.items() if k not in fields}}


def result_of_submission(job: dict[str, Any]) -> Result | None:
    """The result of a submission from the gateway's record; None if it is not over."""
    data: dict[str, Any] | None = job.get("result")
    if not job.get("status") or data is None:
        return None
    facts = {**data, "cost_usd": job.get("cost_usd")}
    return _result(str(job.get("id") or ""), str(job["status"]), data, facts)


def result_of(submission_id: str, events: Sequence[Event]) -> Result:
    """The result from the events of a finished submission; costs and times may come from earlier events."""
    seen: dict[str, Any] = {}
    for event in events:
        seen.update({key: value for key, value in event.data.items() if value is not None})
    last = events[-1]
    return _result(submission_id or str(seen.get("id", "")), last.status, last.data, seen)


def _result(submission_id: str, status: str, reported: dict[str, Any], facts: dict[str, Any]) -> Result:
    """`reported` is the data that came with the verdict; costs and times are among the `facts`."""
    return Result(
        id=submission_id,
        status=status,
        verdict=str(reported.get("verdict") or status),
        message=str(reported.get("message") or ""),
        details=str(reported.get("details") or ""),
        timing=reported.get("timing"),
        avg_runtime_ms=facts.get("avg_runtime_ms"),
        avg_gflops=facts.get("avg_gflops"),
        cost_usd=facts.get("cost_usd"),
        billable_seconds=facts.get("billable_seconds"),
        passed_tests=facts.get("passed_tests"),
        total_tests=facts.get("total_tests"),
        data=reported,
    )
