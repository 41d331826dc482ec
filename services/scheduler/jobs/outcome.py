"""Maps an attempt's verdict to the end of its job."""

from __future__ import annotations

from dataclasses import dataclass

from services.scheduler.jobs.job import JobState
from vocabulary.verdicts import CANCELLED, is_about_the_submission

MISSING_TORCH = "missing_torch"
"""Reason of an infrastructure error: the machine is healthy but cannot evaluate problem definitions."""
DEVICE_FAULT = "device_fault"
"""Reason of an infrastructure error that a submission might have forged; the executor tests its device itself."""


@dataclass(frozen=True)
class Ending:
    """The final state of a job, its verdict, and the message for its author."""

    state: JobState
    verdict: str
    message: str


def ending_of(verdict: str, *, cancel_requested: bool) -> JobState | None:
    """Final state of the job, or None if the attempt is lost: by our fault, or cancelled without a request.

    A run that was over before a cancellation reached it keeps its verdict.
    """
    if verdict == CANCELLED and cancel_requested:
        return JobState.CANCELLED
    return JobState.FINISHED if is_about_the_submission(verdict) else None
