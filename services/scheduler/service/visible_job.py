"""Finds the job that a caller asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.scheduler.jobs.errors import JobNotFoundError
from services.scheduler.jobs.job import UNSEEN_STATES

if TYPE_CHECKING:
    from collections.abc import Collection

    from services.scheduler.jobs.job import Job
    from services.scheduler.store.job_store import JobStore


async def visible_job(store: JobStore, account_ids: Collection[str], job_id: str) -> Job:
    """The job, which is of one of the accounts if any are named; raises JobNotFoundError."""
    # PostgreSQL accepts no NUL character, not even in a comparison.
    job = await store.get(job_id) if "\0" not in job_id else None
    if job is None or job.state in UNSEEN_STATES or (account_ids and job.account_id not in account_ids):
        raise JobNotFoundError(job_id)
    return job
