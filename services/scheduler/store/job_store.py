"""Writes jobs: each move is written only if the row is as the move found it, in one transaction with its events.

Events are announced only after their commit, so nobody sees an event that is not a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import delete, select, text
from wavepool.submission.v1.submission_pb2 import Submission

from services.scheduler import metrics
from services.scheduler.jobs.allowance import WINDOW, Allowance, SubmissionLimits
from services.scheduler.jobs.ended_attempt import ended_attempt
from services.scheduler.jobs.errors import QueueFullError, StaleJobError
from services.scheduler.jobs.job import Job, JobEvent, JobState
from services.scheduler.jobs.spec import texts_of, without_texts
from services.scheduler.jobs.timing import proven_time
from services.scheduler.store import statements
from services.scheduler.store.recent_texts import RecentTexts
from services.scheduler.store.rows import (
    attempt_to_row,
    changed_columns,
    event_to_row,
    job_from_row,
    job_to_row,
    time_to_row,
)
from services.scheduler.store.tables import job_texts, jobs

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence
    from datetime import datetime

    from sqlalchemy.ext.asyncio import AsyncConnection

    from servicekit.db.database import Database


# SQLite takes a limited number of parameters, and rows are decoded between two awaits.
IDS_IN_A_QUERY = 500


class Insertion(NamedTuple):
    """The job that stands for a submission, None if a limit refused it, and what its account may still submit."""

    job: Job | None
    allowance: Allowance


class JobStore:
    """The stored jobs. `announce` is called with the events of each transaction right after its commit."""

    def __init__(self, database: Database, announce: Callable[[Sequence[JobEvent]], None]) -> None:
        self._database = database
        self._announce = announce
        self._recent_texts = RecentTexts()

    async def insert(self, job: Job, limits: SubmissionLimits, most_of_user: int = 0) -> Insertion:
        """Stores a new job whose spec has its whole submission.

        Gives the job without its texts, or the earlier job with the same account and key. Stores nothing and gives no
        job if the account has used up one of the limits at the job's time of creation. Raises QueueFullError if the
        user has `most_of_user` jobs in flight in the queue, which is not 0; nothing is stored then.
        """
        texts = texts_of(job.spec.submission)
        job = replace(job, spec=replace(job.spec, submission=without_texts(job.spec.submission)))
        async with self._database.transaction() as connection:
            await self._one_submission_at_a_time(connection, job.account_id)
            allowance, earlier_id = await self._standing(
                connection, job.account_id, job.idempotency_key, limits, job.create_time
            )
            if earlier_id is None and most_of_user:
                await _check_queue(connection, job, most_of_user)
            if earlier_id is None and allowance.remaining:
                await connection.execute(statements.INSERT_JOB, job_to_row(job))
                row = {"job_id": job.job_id, "texts": texts.SerializeToString()}
                await connection.execute(statements.INSERT_TEXTS, row)
        if earlier_id is not None:
            return Insertion(await self.get(earlier_id), allowance)
        if not allowance.remaining:
            return Insertion(None, allowance)
        self._recent_texts.put(job.job_id, texts)
        return Insertion(job, allowance.after_one_more())

    async def allowance(self, account_id: str, limits: SubmissionLimits, now: datetime) -> Allowance:
        """What the account may submit now."""
        async with self._database.reading() as connection:
            return (await self._standing(connection, account_id, None, limits, now))[0]

    async def move(self, before: Job, after: Job, payloads: Sequence[bytes], now: datetime) -> Job:
        """Writes the columns that the move changed, its events, and the figures of an attempt that it ends.

        Gives the new row. Raises StaleJobError, with nothing written, if the row has left the state, attempt or run
        event of `before`.
        """
        async with self._database.transaction() as connection:
            moved = await self._compare_and_set(connection, before, after, len(payloads))
            events = _events(moved, payloads, now)
            if events:
                await connection.execute(statements.INSERT_EVENTS, [event_to_row(event) for event in events])
            if moved.state is JobState.FINISHED and (time := proven_time(moved)):
                await connection.execute(statements.INSERT_PROVEN_TIME, time_to_row(time))
            attempt = ended_attempt(before, moved, now)
            if attempt:
                await connection.execute(statements.INSERT_ATTEMPT, attempt_to_row(attempt))
        if attempt:
            metrics.attempt_ended(attempt)
        if events:
            self._announce(events)
        return moved

    async def delete(self, job: Job) -> None:
        """Deletes a job that nobody has seen; does nothing if it has moved on."""
        unmoved = (jobs.c.job_id == job.job_id, jobs.c.state == job.state)
        async with self._database.transaction() as connection:
            await connection.execute(delete(jobs).where(*unmoved))

    async def check_leads(self) -> None:
        """Raises LeadershipLostError if another scheduler has taken over; for what is done outside of the database."""
        async with self._database.transaction():
            pass

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

    async def _compare_and_set(self, connection: AsyncConnection, before: Job, after: Job, new_events: int) -> Job:
        statement, parameters = statements.move_of(before, changed_columns(before, after), new_events)
        row = (await connection.execute(statement, parameters)).mappings().one_or_none()
        if row is None:
            raise StaleJobError(before.job_id)
        return job_from_row(row)

    async def _standing(
        self, connection: AsyncConnection, account_id: str, key: str | None, limits: SubmissionLimits, now: datetime
    ) -> tuple[Allowance, str | None]:
        """What the account may submit, and the id of its earlier job with the same key."""
        # Submissions after `now` count too: times of creation are taken before the transaction, so they may be stored
        # in another order.
        parameters = {"account_id": account_id, "idempotency_key": key, "since": now - WINDOW}
        row = (await connection.execute(statements.STANDING, parameters)).mappings().one()
        first_time = row["first_time"]
        if 0 < limits.submissions_per_hour < row["submissions"]:
            # The limit was lowered: more than one must leave the window before there is room.
            newer = {"account_id": account_id, "newer": limits.submissions_per_hour - 1}
            first_time = (await connection.execute(statements.NEWEST_BUT, newer)).scalar_one()
        renew_after = first_time + WINDOW - now if first_time else None
        return Allowance(limits, row["jobs"], row["submissions"], renew_after), row["earlier_id"]

    async def _one_submission_at_a_time(self, connection: AsyncConnection, account_id: str) -> None:
        # On SQLite the whole database has one writer; elsewhere two submissions could count past each other.
        if self._database.dialect_name == "postgresql":
            await connection.execute(
                text("SELECT pg_advisory_xact_lock(hashtext(:key))"), {"key": f"jobs {account_id}"}
            )


async def _check_queue(connection: AsyncConnection, job: Job, most: int) -> None:
    """Raises QueueFullError if the user has that many jobs in flight in the queue."""
    queue, parameters = job.spec.queue, {"user_id": job.user_id, "queue": job.spec.queue}
    if (await connection.execute(statements.IN_QUEUE, parameters)).scalar_one() >= most:
        raise QueueFullError(queue, most)


def _merged(job: Job, texts: Submission) -> Submission:
    whole = Submission()
    whole.CopyFrom(job.spec.submission)
    whole.MergeFrom(texts)
    return whole


def _events(job: Job, payloads: Sequence[bytes], now: datetime) -> list[JobEvent]:
    first = job.last_seq - len(payloads) + 1
    return [
        JobEvent(
            job_id=job.job_id,
            seq=seq,
            time=now,
            attempt=job.attempt,
            cost_micros=job.cost_micros,
            last=job.end_time is not None and seq == job.last_seq,
            payload=payload,
        )
        for seq, payload in enumerate(payloads, first)
    ]
