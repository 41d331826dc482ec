"""Decides whether a lost attempt is retried, and how the job ends otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.reservation import Reservation
from services.scheduler.jobs.states import JobState
from vocabulary.counts import counted
from vocabulary.verdicts import CANCELLED, INFRA_ERROR

FIRST_AGAIN = timedelta(hours=1)
"""For so long after its end, a reservation that was lost by our fault can be gone on with ahead of others."""
_POOL_STOPS = "the pool is stopping"
"""What vmpool gives as the reason for the end of its machines and leases when it is stopped."""
NO_TORCH = (
    "No machine here can evaluate the problem definition that was sent, as none has torch. The operator of this "
    "Wavepool installs it with `make setup-torch`. Problems of the catalogue need no definition."
)


def lost_with_disk(reservation: Reservation, reason: str, now: datetime) -> str:
    """What the owner reads of a reservation that was lost after a snapshot of its disk was taken."""
    disk = reservation.disk
    if disk is None or disk.safe_time is None:
        return ""
    minutes = round((reservation.used(now) - reservation.saved).total_seconds() / 60)
    return (
        f"{_why_lost(reason)} Its disk {disk.name} {disk.kept}. Later changes are lost, and "
        f"the charge for the {counted(minutes, 'minute')} since then is refunded. To continue from there: "
        f"wavepool reserve --disk {disk.name}. {_first_again(reservation, now)}"
    )


def _why_lost(reason: str) -> str:
    # Nothing is broken, and a reader of "leases" would look for a fault.
    if _POOL_STOPS in reason:
        return "Ended because the operator stopped Wavepool."
    return f"Lost through our fault: {reason.rstrip('.')}."


def _first_again(reservation: Reservation, now: datetime) -> str:
    minutes = reservation.lost(now).left // timedelta(minutes=1)
    if not minutes:
        return "Reserve again to go on."
    left = f"{counted(minutes, 'minute')} that {'was' if minutes == 1 else 'were'} left"
    return f"If you reserve within an hour for the {left}, you are the first of your queue."


def replaced(job: Job, others: Iterable[Job], least: timedelta, now: datetime) -> str:
    """The id of the lost reservation whose time a new one goes on with, ahead of others; empty if it is none's.

    `others` are the user's reservations that were not over an hour ago. For each that was lost there is one in its
    place, with no more GPUs, of a type that it would take, and for no longer than what was left, or `least`.
    """
    others = list(others)
    taken = {one.reserved.instead_of for one in others}
    if job.is_dated:
        return ""
    for one in others:
        lost = one.reserved
        if (
            lost.left
            and one.job_id not in taken
            and one.end_time is not None
            and now - one.end_time < FIRST_AGAIN
            and job.spec.queue == one.spec.queue
            and job.spec.gpus_in_all <= one.spec.gpus_in_all
            and set(job.spec.gpu_types) <= set(one.spec.gpu_types)
            and job.reserved.total <= max(least, lost.left)
        ):
            return one.job_id
    return ""


def ending_after_loss(
    job: Job,
    reason: str,
    max_attempts: int,
    now: datetime,
    *,
    excused: bool = False,
    deadline_missed: Ending | None = None,
    final: Ending | None = None,
) -> Ending | None:
    """End of a job whose attempt was lost for `reason`; None if it is retried.

    An `excused` loss does not count against the job. `deadline_missed` is the end of a job that another attempt would
    be too late for. `final` is its end if no attempt can help.
    """
    if job.cancel_time:
        return Ending(JobState.CANCELLED, CANCELLED, "Cancelled; nothing is charged because the run was lost.")
    if job.reservation and job.reservation.active_time:
        disk = job.reservation.disk
        kept = f"; its disk {disk.name} {disk.kept}" if disk else ""
        message = (
            f"{_why_lost(reason)} Everything charged is refunded. Files that were only on the "
            f"machine are lost{kept}. {_first_again(job.reservation, now)}"
        )
        return Ending(JobState.FAILED, INFRA_ERROR, message)
    if final:
        return final
    if excused or job.failed_attempts < max_attempts:
        return deadline_missed
    if job.reservation:
        message = (
            f"We failed to open its session {job.failed_attempts} times, the last time because {reason.rstrip('.')}. "
            "Nothing is charged. Try again later, or contact the operator."
        )
        return Ending(JobState.FAILED, INFRA_ERROR, message)
    message = (
        f"We failed to run this {job.failed_attempts} times, the last time because {reason.rstrip('.')}. That is "
        "not your submission's fault; nothing is charged. Submit it again later."
    )
    return Ending(JobState.FAILED, INFRA_ERROR, message)
