"""Writes jobs: each move is written only if the row is as the move found it, in one transaction with its events.

Writes that come at the same time share a transaction. Events are announced only after their commit, so nobody sees an
event that is not a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import select
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.db.group_commit import GroupCommit
from services.scheduler.jobs.job import Job, JobEvent, JobState
from services.scheduler.jobs.spec import texts_of, without_texts
from services.scheduler.store import statements
from services.scheduler.store.job_writes import Deletion, Insertion, Move, Written, write_all
from services.scheduler.store.recent_texts import RecentTexts
from services.scheduler.store.rows import job_from_row
from services.scheduler.store.tables import job_texts, jobs

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence
    from datetime import datetime

    from servicekit.db.database import Database


# SQLite takes a limited number of parameters, and rows are decoded between two awaits.
IDS_IN_A_QUERY = 500


class JobStore:
    """The stored jobs. `announce` is called with the events of each transaction right after its commit."""

    def __init__(self, database: Database, announce: Callable[[Sequence[JobEvent]], None]) -> None:
        self._database = database
        self._announce = announce
        self._writes = GroupCommit(database, write_all, self._announce_all)
        self._recent_texts = RecentTexts()

    async def insert(self, job: Job, max_in_flight: int) -> Job | None:
        """Stores a new job whose spec has its whole submission.

        Gives the job without its texts, or the earlier job with the same account and key. Stores nothing and gives None
        if the account has `max_in_flight` jobs in flight already.
        """
        texts = texts_of(job.spec.submission)
        job = replace(job, spec=replace(job.spec, submission=without_texts(job.spec.submission)))
        written = await self._writes.commit(Insertion(job, texts, max_in_flight))
        if written.job is not None and written.job.job_id == job.job_id:
            self._recent_texts.put(job.job_id, texts)
        return written.job

    async def move(self, before: Job, after: Job, payloads: Sequence[bytes], now: datetime) -> Job:
        """Writes the columns that the move changed and appends its events; gives the new row.

        Raises StaleJobError, with nothing written, if the row has left the state, attempt or run event of `before`.
        """
        written = await self._writes.commit(Move(before, after, payloads, now))
        return written.job or after

    async def delete(self, job: Job) -> None:
        """Deletes a job that nobody has seen; does nothing if it has moved on."""
        await self._writes.commit(Deletion(job))

    async def get(self, job_id: str) -> Job | None:
        """Gets a job in any state; None if there is none."""
        async with self._database.reading() as connection:
            row = (await connection.execute(statements.JOB, {"job_id": job_id})).mappings().one_or_none()
        return job_from_row(row) if row else None

    async def whole_submission(self, job: Job) -> Submission:
        """The submission as it was admitted, with its texts."""
        return _merged(job, self._recent_texts.look(job.job_id) or await self._stored_texts(job.job_id))

    async def submission_to_run(self, job: Job) -> Submission:
        """The whole submission, for the job's run; its texts then leave memory, as they are seldom needed again."""
        return _merged(job, self._recent_texts.take(job.job_id) or await self._stored_texts(job.job_id))

    async def ids_in_states(self, states: Collection[JobState]) -> dict[str, JobState]:
        """The IDs of all jobs in these states, with their state."""
        query = select(jobs.c.job_id, jobs.c.state).where(jobs.c.state.in_(states))
        async with self._database.reading() as connection:
            return {row.job_id: JobState(row.state) for row in await connection.execute(query)}

    async def by_ids(self, job_ids: Sequence[str]) -> AsyncGenerator[Job]:
        """Yields these jobs as they now are; deleted jobs are left out."""
        for start in range(0, len(job_ids), IDS_IN_A_QUERY):
            chosen = jobs.c.job_id.in_(job_ids[start : start + IDS_IN_A_QUERY])
            async with self._database.reading() as connection:
                rows = (await connection.execute(select(jobs).where(chosen))).mappings().all()
            for row in rows:
                yield job_from_row(row)

    async def _stored_texts(self, job_id: str) -> Submission:
        query = select(job_texts.c.texts).where(job_texts.c.job_id == job_id)
        async with self._database.reading() as connection:
            return Submission.FromString(bytes((await connection.execute(query)).scalar_one()))

    def _announce_all(self, results: Sequence[Written]) -> None:
        if events := [event for written in results for event in written.events]:
            self._announce(events)


def _merged(job: Job, texts: Submission) -> Submission:
    whole = Submission()
    whole.CopyFrom(job.spec.submission)
    whole.MergeFrom(texts)
    return whole
