"""Removes what is kept of jobs for a time only, in small transactions, so that nobody waits long for a lock.

A job's row stays, and so do its charges and its times that rank.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Delete, Select, Update, delete, func, literal, select, tuple_, update

from servicekit.db.database import EPOCH, Database, Instant
from services.scheduler.store.tables import job_events, job_texts, jobs

BATCH = 100
"""Jobs of one transaction; each has some hundred events at most."""


class Kept(StrEnum):
    """What is kept of a job for a time."""

    SOURCE = "source"
    """Its texts: the source, and a problem definition of its own."""
    EVENTS = "events"
    """Its events, but the last, which says how it ended."""
    RESULT = "result"


class Place(NamedTuple):
    """A job among all by age."""

    create_time: datetime
    job_id: str


FIRST = Place(EPOCH, "")
_EVENT_BUT_LAST = ~job_events.c.last
_HAS: dict[Kept, Select[tuple[str]]] = {
    Kept.SOURCE: select(job_texts.c.job_id),
    Kept.EVENTS: select(job_events.c.job_id).where(_EVENT_BUT_LAST).distinct(),
    Kept.RESULT: select(jobs.c.job_id).where(func.length(jobs.c.result) > 0),
}
_REMOVE: dict[Kept, Delete | Update] = {
    Kept.SOURCE: delete(job_texts),
    Kept.EVENTS: delete(job_events).where(_EVENT_BUT_LAST),
    Kept.RESULT: update(jobs).values(result=b""),
}
_JOB_ID = {Kept.SOURCE: job_texts.c.job_id, Kept.EVENTS: job_events.c.job_id, Kept.RESULT: jobs.c.job_id}


class OldJobs:
    """The jobs by age, and what can be removed of them."""

    def __init__(self, database: Database, batch: int = BATCH) -> None:
        self._database = database
        self._batch = batch

    async def next_jobs(self, after: Place, before: datetime) -> list[tuple[Place, bool]]:
        """The next jobs that were made before, with whether they were over before; empty at the end."""
        place = tuple_(jobs.c.create_time, jobs.c.job_id)
        query = (
            select(jobs.c.create_time, jobs.c.job_id, jobs.c.end_time)
            .where(place > tuple_(literal(after.create_time, Instant), after.job_id), jobs.c.create_time < before)
            .order_by(jobs.c.create_time, jobs.c.job_id)
            .limit(self._batch)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [
            (Place(row.create_time, row.job_id), row.end_time is not None and row.end_time < before) for row in rows
        ]

    async def over(self, job_ids: Collection[str], before: datetime) -> list[str]:
        """Up to a batch of those that were over before."""
        query = select(jobs.c.job_id).where(jobs.c.job_id.in_(job_ids), jobs.c.end_time < before).limit(self._batch)
        async with self._database.reading() as connection:
            return list(await connection.scalars(query)) if job_ids else []

    async def forget(self, kept: Kept, job_ids: Sequence[str]) -> int:
        """Removes this of at most a batch of jobs; the number of jobs that had it."""
        column = _JOB_ID[kept]
        async with self._database.reading() as connection:
            having = list(await connection.scalars(_HAS[kept].where(column.in_(job_ids))))
        if having:
            async with self._database.transaction() as connection:
                await connection.execute(_REMOVE[kept].where(column.in_(having)))
        return len(having)
