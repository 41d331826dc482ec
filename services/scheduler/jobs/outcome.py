"""How an attempt ends a job: by its verdict, or by being lost once too often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.scheduler.jobs.job import JobState
from vocabulary.verdicts import CANCELLED, INFRA_ERROR, is_about_the_submission

if TYPE_CHECKING:
    from services.scheduler.jobs.job import Job

MISSING_TORCH = "missing_torch"
"""The reason of an infrastructure error: the machine is well, and cannot evaluate problem definitions."""
DEVICE_FAULT = "device_fault"
"""The reason of an infrastructure error that a submission might have forged: the executor tests its device itself."""
NO_TORCH = (
    "No machine here can evaluate the problem definition that was sent, as none has torch; nothing is charged. The "
    "operator of this Wavepool installs it with `make setup-torch`. Problems of the catalogue need no definition."
)


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


def ending_after_loss(
    job: Job, reason: str, max_attempts: int, *, excused: bool = False, needs_torch_in_vain: bool = False
) -> Ending | None:
    """How a job ends whose attempt is lost for `reason`; None if it is tried again.

    An `excused` loss is not held against the job. `needs_torch_in_vain`: only a machine with torch could run it, and
    there is none.
    """
    if job.cancel_time:
        return Ending(JobState.CANCELLED, CANCELLED, "Cancelled; nothing is charged because the run was lost.")
    if needs_torch_in_vain:
        return Ending(JobState.FAILED, INFRA_ERROR, NO_TORCH)
    if excused or job.failed_attempts < max_attempts:
        return None
    message = (
        f"We failed to run this {job.failed_attempts} times, the last time because {reason.rstrip('.')}. That is "
        "not your submission's fault; nothing is charged. Submit it again later."
    )
    return Ending(JobState.FAILED, INFRA_ERROR, message)
