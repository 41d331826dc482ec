"""How an attempt's verdict ends a job."""

from __future__ import annotations

from services.scheduler.job import JobState

CANCELLED = "CANCELLED"
INFRA_ERROR = "INFRA_ERROR"
MISSING_TORCH = "missing_torch"
"""The reason of an infrastructure error: the machine is well, and cannot evaluate problem definitions."""
DEVICE_FAULT = "device_fault"
"""The reason of an infrastructure error that a submission might have forged: the executor tests its device itself."""
# A verdict that this version does not know says nothing about the submission either.
FAULTS_OF_OURS = frozenset({INFRA_ERROR, "UNSPECIFIED"})


def ending_of(verdict: str, *, cancel_requested: bool) -> JobState | None:
    """The state that the job ends in; None where the attempt is lost: our fault, or ended by nobody that we know.

    A run that was over before a cancellation reached it keeps its verdict.
    """
    if verdict in FAULTS_OF_OURS:
        return None
    if verdict == CANCELLED:
        return JobState.CANCELLED if cancel_requested else None
    return JobState.FINISHED
