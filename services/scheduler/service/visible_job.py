"""Finds the job that a caller asks for."""

from __future__ import annotations

from collections.abc import Collection

from services.scheduler.jobs.errors import JobNotFoundError, ReservationNotFoundError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import UNSEEN_STATES
from services.scheduler.store.job_store import JobStore


async def visible_job(store: JobStore, account_ids: Collection[str], job_id: str) -> Job:
    """The job, which is of one of the accounts if any are named, and no reservation; raises JobNotFoundError."""
    job = await _visible(store, account_ids, job_id)
    if job is None or job.reservation:
        raise JobNotFoundError(job_id)
    return job


async def visible_reservation(store: JobStore, account_ids: Collection[str], reservation_id: str) -> Job:
    """The job of a reservation, as `visible_job`; raises ReservationNotFoundError."""
    job = await _visible(store, account_ids, reservation_id)
    if job is None or not job.reservation:
        raise ReservationNotFoundError(reservation_id)
    return job


async def visible_in_queue(store: JobStore, account_ids: Collection[str], job_id: str) -> Job:
    """The job, as `visible_job`, or a reservation's; raises JobNotFoundError."""
    job = await _visible(store, account_ids, job_id)
    if job is None:
        raise JobNotFoundError(job_id)
    return job


async def _visible(store: JobStore, account_ids: Collection[str], job_id: str) -> Job | None:
    # PostgreSQL accepts no NUL character, not even in a comparison.
    job = await store.get(job_id) if "\0" not in job_id else None
    if job is None or job.state in UNSEEN_STATES or (account_ids and job.account_id not in account_ids):
        return None
    return job
