"""The one table from verdicts to the statuses that people see, and the verdicts that are about the submission.

Verdicts are the names of wavepool.executor.v1.Verdict without `VERDICT_`, modes are words such as `check`. A verdict
that is in no table comes from a newer program: it is our error, never a pass, and is not about the submission.
"""

from __future__ import annotations

ACCEPTED = "ACCEPTED"
CANCELLED = "CANCELLED"
INFRA_ERROR = "INFRA_ERROR"
UNSPECIFIED = "UNSPECIFIED"
OUR_STATUS = "ERROR"
"""Status of our own faults, and of three verdicts about the submission that have no status of their own."""

STATUS_OF_ACCEPTED_MODE = {
    "check": "CHECKED",
    "benchmark": "BENCHMARKED",
    "full": "ACCEPTED",
    "sample": "PASSED",
    "sandbox": "SANDBOX_SUCCESS",
}
SUCCESSES = frozenset(STATUS_OF_ACCEPTED_MODE.values())
"""Statuses of accepted submissions; no other verdict leads to one of them."""

STATUS_OF_VERDICT = {
    "COMPILE_ERROR": "COMPILE_ERROR",
    "COMPILE_LIMIT": "COMPILE_ERROR",
    "FORBIDDEN_SOURCE": "COMPILE_ERROR",
    "FORBIDDEN_LIBRARY": "COMPILE_ERROR",
    "LAUNCH_ERROR": "RUNTIME_ERROR",
    "RUNTIME_ERROR": "RUNTIME_ERROR",
    "OUTPUT_LIMIT_EXCEEDED": "RUNTIME_ERROR",
    "WRONG_ANSWER": "WRONG_ANSWER",
    "PRECISION": "WRONG_ANSWER",
    "INPUT_MODIFIED": "WRONG_ANSWER",
    "OUT_OF_BOUNDS": "WRONG_ANSWER",
    "NONDETERMINISTIC": "WRONG_ANSWER",
    "TIME_LIMIT_EXCEEDED": "TIME_LIMIT_EXCEEDED",
    "MEMORY_LIMIT_EXCEEDED": "MEMORY_LIMIT_EXCEEDED",
    "TIMING_INVALID": "ERROR",
    "UNSTABLE": "ERROR",
    "PROBLEM_ERROR": "ERROR",
    "SAMPLE_ONLY": "SAMPLE_ONLY",
    "CANCELLED": "CANCELLED",
    "INFRA_ERROR": "ERROR",
    "UNSPECIFIED": "ERROR",
}
"""Status of every verdict except ACCEPTED."""

STATUS_OF_SANDBOX_VERDICT = {
    "RUNTIME_ERROR": "SANDBOX_ERROR",
    "LAUNCH_ERROR": "SANDBOX_ERROR",
    "MEMORY_LIMIT_EXCEEDED": "SANDBOX_ERROR",
    "TIME_LIMIT_EXCEEDED": "SANDBOX_TIMEOUT",
    "OUTPUT_LIMIT_EXCEEDED": "SANDBOX_OUTPUT_LIMIT",
}
"""Statuses of a whole program that mode `sandbox` has its own words for."""

FINAL_STATUSES = tuple(
    dict.fromkeys(
        [
            *STATUS_OF_ACCEPTED_MODE.values(),
            *STATUS_OF_VERDICT.values(),
            "FAILED",
            *STATUS_OF_SANDBOX_VERDICT.values(),
        ]
    )
)
"""All that `final_status` gives."""

NOT_ABOUT_THE_SUBMISSION = frozenset({"CANCELLED", "INFRA_ERROR", "UNSPECIFIED"})


def status_of(verdict: str, mode: str) -> str:
    """The status at the end of a run of that mode."""
    if verdict == ACCEPTED:
        return STATUS_OF_ACCEPTED_MODE.get(mode, ACCEPTED)
    status = STATUS_OF_VERDICT.get(verdict, OUR_STATUS)
    if mode == "sandbox":
        return STATUS_OF_SANDBOX_VERDICT.get(verdict, status)
    if mode == "sample" and status == "WRONG_ANSWER":
        return "FAILED"
    return status


def final_status(state: str, verdict: str, mode: str) -> str:
    """The status of a submission's last event, from the state that it ended in, its verdict and its mode."""
    if state == CANCELLED:
        return CANCELLED
    return OUR_STATUS if state == "FAILED" else status_of(verdict, mode)


def is_about_the_submission(verdict: str) -> bool:
    """True if the verdict is about the submission: not our fault, not a cancellation, and known."""
    return verdict == ACCEPTED or (verdict in STATUS_OF_VERDICT and verdict not in NOT_ABOUT_THE_SUBMISSION)
