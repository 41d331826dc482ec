"""Maps an attempt's verdict to the end of its job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.spec import JobSpec
from services.scheduler.jobs.states import JobState
from vocabulary.verdicts import ACCEPTED, CANCELLED, INFRA_ERROR, is_about_the_submission

MISSING_TORCH = "missing_torch"
"""Reason of an infrastructure error: the machine is healthy but cannot evaluate problem definitions."""
DEVICE_FAULT = "device_fault"
"""Reason of an infrastructure error that a submission might have forged; the executor tests its device itself."""
DEADLINE = "deadline"
"""Reason of a cancellation by the platform: the job could no longer end before its deadline."""


IMAGE = "image"
"""Reason of a cancellation by the platform: there is no such image, or it cannot be used here."""
IMPOSSIBLE = "impossible"
"""Reason of a cancellation by the platform: no machine can give the job its GPUs any more."""
TIME_WAS_UP = "Its time was up."
"""The message at the end of a reservation that has had all its time."""


@dataclass(frozen=True)
class Ending:
    """The final state of a job, its verdict, and the message for its author."""

    state: JobState
    verdict: str
    message: str
    reason: str = ""
    """A word for programs that is more precise than the verdict."""


def deadline_missed(spec: JobSpec, operators_limit: timedelta, why: str = "") -> Ending:
    """The end of a job whose deadline is too near for another attempt; `why` says what became of the last one."""
    limit = spec.longest_run(operators_limit).total_seconds()
    message = (
        f"Cancelled by the platform: with its time limit of {limit:g} s it had to start by "
        f"{spec.latest_start(operators_limit):%Y-%m-%d %H:%M:%S} UTC to end before its deadline, "
        f"{spec.deadline:%Y-%m-%d %H:%M:%S} UTC.{why} Nothing is charged. Submit it with a later deadline or a shorter "
        "time limit."
    )
    return Ending(JobState.CANCELLED, CANCELLED, message, DEADLINE)


def too_late(job: Job, operators_limit: timedelta, why: str = "") -> Ending:
    """The end of a job, or reservation, that may not start any more; `why` says what became of its last attempt."""
    if job.reservation is None:
        return deadline_missed(job.spec, operators_limit, why)
    latest = job.spec.latest_start(operators_limit)
    if job.is_dated:
        message = (
            f"It was to start at {job.reservation.start_time:%Y-%m-%d %H:%M:%S} UTC, and had no GPUs by "
            f"{latest:%Y-%m-%d %H:%M:%S} UTC (SCHEDULER_DATED_START_WITHIN).{why} Nothing is charged. Reserve again; "
            "`wavepool reservations calendar` shows what is free when."
        )
        return Ending(JobState.FAILED, INFRA_ERROR, message, DEADLINE)
    message = (
        f"Cancelled by the platform: it had no GPUs by {latest:%Y-%m-%d %H:%M:%S} UTC "
        f"(SCHEDULER_LONGEST_RESERVATION_WAIT).{why} Nothing is charged. "
        "`wavepool avail` shows which size has the shortest wait."
    )
    return Ending(JobState.CANCELLED, CANCELLED, message, DEADLINE)


def never_possible(why: str) -> Ending:
    """The end of a job that no machine can take."""
    message = f"Cancelled by the platform: {why} Nothing is charged."
    return Ending(JobState.CANCELLED, CANCELLED, message, IMPOSSIBLE)


def ending_of(verdict: str, *, cancel_requested: bool) -> JobState | None:
    """Final state of the job, or None if the attempt is lost: by our fault, or cancelled without a request.

    A run that was over before a cancellation reached it keeps its verdict.
    """
    if verdict == CANCELLED and cancel_requested:
        return JobState.CANCELLED
    return JobState.FINISHED if is_about_the_submission(verdict) else None


def ended_well(job: Job) -> bool:
    """True if a job that is settled, or being settled, ended as its user wanted.

    A reservation does so at the end of its time, or if its user gives it back, and with all of its disk saved.
    """
    reservation = job.reservation
    if reservation is None:
        return job.ending is JobState.FINISHED and job.verdict == ACCEPTED
    is_given_back = job.ending is JobState.CANCELLED and reservation.active_time is not None
    is_meant = job.message == TIME_WAS_UP or (is_given_back and not reservation.end_reason)
    return is_meant and not (reservation.disk and reservation.disk.fault)
