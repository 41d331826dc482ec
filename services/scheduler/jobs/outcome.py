"""How an attempt's verdict ends a job."""

from __future__ import annotations

from dataclasses import dataclass

from services.scheduler.jobs.job import JobState
from vocabulary.verdicts import CANCELLED, is_about_the_submission

MISSING_TORCH = "missing_torch"
"""The reason of an infrastructure error: the machine is well, and cannot evaluate problem definitions."""
DEVICE_FAULT = "device_fault"
"""The reason of an infrastructure error that a submission might have forged: the executor tests its device itself."""


@dataclass(frozen=True)
class Ending:
    """The state that a job ends in, its verdict, and what its author reads."""

    state: JobState
    verdict: str
    message: str


def ending_of(verdict: str, *, cancel_requested: bool) -> JobState | None:
    """The state that the job ends in; None if the attempt is lost: our fault, or ended by nobody that we know.

    A run that was over before a cancellation reached it keeps its verdict.
    """
    if verdict == CANCELLED and cancel_requested:
        return JobState.CANCELLED
    return JobState.FINISHED if is_about_the_submission(verdict) else None
