"""Writes jobs: each move is written only if the row is as the move found it, in one transaction with its events.

Writes that come at the same time share a transaction. Events are announced only after their commit, so nobody sees an
event that is not a row.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from sqlalchemy import select
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.db.database import Database
from servicekit.db.group_commit import GroupCommit
from services.scheduler import metrics
from services.scheduler.jobs.allowance import WINDOW, Allowance, SubmissionLimits
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.spec import texts_of, without_texts
from services.scheduler.jobs.states import JobState
from services.scheduler.store import statements
from services.scheduler.store.account_use import allowance_of, uses_of
from services.scheduler.store.job_writes import (
    Deletion,
    Insertion,
    Labelling,
    Move,
    Moved,
    Submitted,
    Written,
    write_all,
)
from services.scheduler.store.recent_texts import RecentTexts
from services.scheduler.store.rows import job_from_row
from services.scheduler.store.tables import job_texts, jobs

# SQLite takes a limited number of parameters, and rows are decoded between two awaits.
IDS_IN_A_QUERY = 500


class JobStore:
    """The stored jobs. `announce` is called with the events of each transaction right after its commit."""

    def __init__(self, database: Database, announce: Callable[[Sequence[JobEvent]], None]) -> None:
        self._database = database
        self._announce = announce
        self._writes = GroupCommit(database, write_all, self._committed)
        self._recent_texts = RecentTexts()

    async def insert(self, job: Job, limits: SubmissionLimits, most_of_user: int = 0) -> Submitted:
        """Stores a new job whose spec has its whole submission.

        Gives the job without its texts, or the earlier job with the same account and key. Stores nothing and gives no
        job if the account has used up one of the limits at the job's time of creation. Raises QueueFullError if the
        user has `most_of_user` jobs in flight in the queue, which is not 0; nothing is stored then.
        """
        texts = texts_of(job.spec.submission)
        job = replace(job, spec=replace(job.spec, submission=without_texts(job.spec.submission)))
        submitted = cast("Submitted", await self._writes.commit(Insertion(job, texts, limits, most_of_user)))
        if submitted.job is not None and submitted.job.job_id == job.job_id:
            self._recent_texts.put(job.job_id, texts)
        return submitted

    async def allowance(self, account_id: str, limits: SubmissionLimits, now: datetime) -> Allowance:
        """What the account may submit now."""
        async with self._database.reading() as connection:
            use = (await uses_of(connection, [account_id], now - WINDOW))[account_id]
            return await allowance_of(connection, account_id, use, limits, now)

    async def move(
        self, before: Job, after: Job, payloads: Sequence[bytes], now: datetime, *, keeps_reservation: bool = False
    ) -> Job:
        """Writes the columns that the move changed, its events, and the figures of an attempt that it ends.

        Gives the new row. Raises StaleJobError, with nothing written, if the row has left the state, attempt or run
        event of `before`, or its reservation with `keeps_reservation`.
        """
        write = Move(before, after, payloads, now, keeps_reservation)
        return cast("Moved", await self._writes.commit(write)).job

    async def label(self, job: Job, changes: Mapping[str, str]) -> Job:
        """Changes its `name` and `visibility`, as far as they are given, in any state; gives the job as it is then."""
        await self._writes.commit(Labelling(job, changes))
        return await self.get(job.job_id) or job

    async def delete(self, job: Job) -> None:
        """Deletes a job that nobody has seen; does nothing if it has moved on."""
        await self._writes.commit(Deletion(job))

    async def check_leads(self) -> None:
        """Raises LeadershipLostError if another scheduler has taken over; for what is done outside of the database."""
        async with self._database.transaction():
            pass

    async def get(self, job_id: str) -> Job | None:
        """Gets a job in any state; None if there is none."""
        async with self._database.reading() as connection:
            row = (await connection.execute(statements.JOB, {"job_id": job_id})).mappings().one_or_none()
        return job_from_row(row) if row else None

    async def has_key(self, account_id: str, idempotency_key: str) -> bool:
        """True if a job of the account has that key."""
        query = select(jobs.c.job_id).where(jobs.c.account_id == account_id, jobs.c.idempotency_key == idempotency_key)
        async with self._database.reading() as connection:
            return (await connection.execute(query)).first() is not None

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
            # Those of an old job may be gone (SCHEDULER_SOURCES_KEPT).
            return Submission.FromString(bytes(await connection.scalar(query) or b""))

    def _committed(self, results: Sequence[Written]) -> None:
        moves = [result for result in results if isinstance(result, Moved)]
        for ended in [move.ended for move in moves if move.ended]:
            metrics.attempt_ended(ended)
        if events := [event for move in moves for event in move.events]:
            self._announce(events)


def _merged(job: Job, texts: Submission) -> Submission:
    whole = Submission()
    whole.CopyFrom(job.spec.submission)
    whole.MergeFrom(texts)
    return whole
