"""Finds the job or reservation that a caller asks for, if the caller has the right to do that with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from wavepool.scheduler.v1.scheduler_pb2 import UpdateJobRequest

from servicekit.logging import get_logger
from services.scheduler.jobs.errors import (
    JobNotFoundError,
    NotYoursError,
    NotYourSubmissionError,
    ReservationNotFoundError,
)
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import OVER_STATES, UNSEEN_STATES
from services.scheduler.store.job_store import JobStore
from submissions.visibility import Visibility
from vocabulary.rights import Asker, Belonging, Right, Standing, may, standing_of

log = get_logger(__name__)


class JobRequest(Protocol):
    """A request about a job."""

    @property
    def account_ids(self) -> Sequence[str]:
        """The accounts whose jobs the caller sees; empty for an operator."""
        ...

    @property
    def job_id(self) -> str:
        """The job's id."""
        ...

    @property
    def or_shared(self) -> bool:
        """Whether it may be of another account, if it is not private."""
        ...


class ReservationRequest(Protocol):
    """A request about a reservation."""

    @property
    def account_ids(self) -> Sequence[str]:
        """The accounts whose reservations the caller sees; empty for an operator."""
        ...

    @property
    def reservation_id(self) -> str:
        """The reservation's id."""
        ...


async def visible_job(store: JobStore, account_ids: Collection[str], job_id: str, *, or_shared: bool = False) -> Job:
    """The job, which is of one of the accounts if any are named, and no reservation; raises JobNotFoundError.

    With `or_shared` it may be of another account as well, if it is not private.
    """
    job = await _seen(store, job_id)
    is_shared = or_shared and job is not None and job.visibility is not Visibility.PRIVATE
    if job is None or job.reservation or not (is_shared or _is_of(account_ids, job)):
        raise JobNotFoundError(job_id)
    return job


async def ended_job(store: JobStore, request: JobRequest) -> Job:
    """The job, as `visible_job`, if it is over; raises JobNotFoundError."""
    job = await visible_job(store, request.account_ids, request.job_id, or_shared=request.or_shared)
    if job.state not in OVER_STATES:
        raise JobNotFoundError(job.job_id)
    return job


async def job_to_change(store: JobStore, request: UpdateJobRequest) -> Job:
    """The job, as `visible_job`, if the caller may name and share it; raises NotYourSubmissionError, too."""
    job = await visible_job(store, request.account_ids, request.job_id)
    asker, thing = _asker(request), Belonging(job.user_id, job.account_id)
    standing = standing_of(asker, thing)
    if standing is None or not may(Right.CHANGE, standing, thing):
        raise NotYourSubmissionError(job.job_id)
    return job


async def visible_in_queue(store: JobStore, account_ids: Collection[str], job_id: str) -> Job:
    """The job, as `visible_job`, or a reservation's; raises JobNotFoundError."""
    job = await _visible(store, account_ids, job_id)
    if job is None:
        raise JobNotFoundError(job_id)
    return job


async def reservation_for(store: JobStore, request: ReservationRequest, right: Right) -> Job:
    """The job of the reservation; raises ReservationNotFoundError, and NotYoursError without the right to that.

    What others than its owner do is logged, as a line of the audit.
    """
    asker = _asker(request)
    job = await _visible(store, asker.account_ids, request.reservation_id)
    if job is None or not job.reservation:
        raise ReservationNotFoundError(request.reservation_id)
    disk = job.reservation.disk
    editors = [one.user_id for one in job.reservation.editors]
    thing = Belonging(job.user_id, job.account_id, editors, is_personal=disk is not None)
    standing = standing_of(asker, thing)
    if standing is None:
        raise ReservationNotFoundError(request.reservation_id)
    if not may(right, standing, thing):
        raise NotYoursError(job.job_id, disk.name if disk and standing is Standing.MANAGER else "")
    if right is not Right.SEE and standing is not Standing.OWNER:
        who = {"by": asker.user_id, "standing": standing, "owner": job.user_id}
        log.info("audit: a reservation of another user", extra={"reservation_id": job.job_id, "right": right, **who})
    return job


def _asker(request: ReservationRequest | UpdateJobRequest) -> Asker:
    managed = getattr(request, "managed_account_ids", ())
    return Asker(getattr(request, "user_id", ""), request.account_ids, managed)


async def _visible(store: JobStore, account_ids: Collection[str], job_id: str) -> Job | None:
    job = await _seen(store, job_id)
    return job if job and _is_of(account_ids, job) else None


async def _seen(store: JobStore, job_id: str) -> Job | None:
    # PostgreSQL accepts no NUL character, not even in a comparison.
    job = await store.get(job_id) if "\0" not in job_id else None
    return None if job is None or job.state in UNSEEN_STATES else job


def _is_of(account_ids: Collection[str], job: Job) -> bool:
    return standing_of(Asker("", account_ids), Belonging(job.user_id, job.account_id)) is not None
