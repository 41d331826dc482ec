"""What becomes of the jobs of a database that was restored from a backup: nobody knows how those in flight went on."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from servicekit.clock import Clock
from servicekit.db.database import Database
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.outcome import Ending
from services.scheduler.jobs.retries import ending_after_loss
from services.scheduler.jobs.states import STARTED_STATES, WAITING_STATES, JobState
from services.scheduler.store.job_store import JobStore
from services.scheduler.wire import payloads
from vocabulary.verdicts import INFRA_ERROR

REASON = "this Wavepool was restored from a backup"
_MESSAGE = (
    "This Wavepool was restored from a backup of a time at which this was not over, and what became of it since then "
    "is not known. Nothing is charged. Submit or reserve it again."
)


async def end_jobs_in_flight(database: Database, clock: Clock) -> dict[str, Any]:
    """Fails the jobs that waited or ran, so that the scheduler settles them without a charge when it starts.

    Reservations whose start is still to come stay. Gives the holds of both, for billing.
    """
    store = JobStore(database, lambda _events: None)
    failed, kept = list[str](), list[str]()
    async for job in store.by_ids(list(await store.ids_in_states(WAITING_STATES | STARTED_STATES))):
        now = clock.now()
        goes_on = job.state is JobState.SETTLING or _starts_later(job, now)
        if not goes_on:
            await _fail(store, job, now)
        if job.hold_id:
            (kept if goes_on else failed).append(job.hold_id)
    return {"failed_holds": failed, "kept_holds": kept, "failed_jobs": len(failed)}


def _starts_later(job: Job, now: datetime) -> bool:
    return job.is_pending and job.reserved.start_time is not None and job.reserved.start_time > now


async def _fail(store: JobStore, job: Job, now: datetime) -> None:
    ending, reservation = Ending(JobState.FAILED, INFRA_ERROR, _MESSAGE), job.reservation
    if reservation and reservation.active_time:
        ending = ending_after_loss(job, REASON, 1, now) or ending
        reservation = reservation.lost(now)
    await store.move(job, job.changed(reservation=reservation).settle(payloads.outcome(ending)), [], now)
