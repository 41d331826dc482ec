"""Reads jobs and their logs for callers: pages, events after a sequence number, counts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, literal, select, tuple_
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.db.database import Database, Instant
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.listing import JobFilter, PageEnd, page_end_of
from services.scheduler.jobs.run_history import RunKind, kind_by
from services.scheduler.jobs.states import IN_FLIGHT_STATES, UNSEEN_STATES, JobState
from services.scheduler.store import statements
from services.scheduler.store.rows import event_from_row, job_from_row
from services.scheduler.store.tables import job_revision, jobs

# SQLite takes at most 32,766 parameters in a statement.
IDS_IN_A_QUERY = 1000
RESERVATIONS_IN_A_QUERY = 500
_NEWEST = (jobs.c.create_time, jobs.c.job_id)
_FASTEST = (jobs.c.proof, jobs.c.calls_per_second, *_NEWEST)
EVENTS_CHANNEL = "job_events"
"""The channel of the trigger `jobs_tell_of_events`, which the first migration makes."""


class JobReader:
    """Reads jobs without waiting for writers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, wanted: JobFilter, size: int, after: PageEnd | None, fits: Callable[[Job], bool] = lambda _: True
    ) -> list[Job]:
        """Up to `size` jobs in the filter's order; `fits` tells apart what no column does."""
        found: list[Job] = []
        while True:
            jobs = await self._unsifted_page(wanted, size, after)
            found += filter(fits, jobs)
            if len(found) >= size or len(jobs) < size:
                return found[:size]
            after = page_end_of(jobs[-1], wanted)

    async def _unsifted_page(self, wanted: JobFilter, size: int, after: PageEnd | None) -> list[Job]:
        query = select(jobs).where(*_conditions(wanted))
        order = _FASTEST if wanted.fastest else _NEWEST
        if after:
            end = [literal(getattr(after, column.name), column.type) for column in order]
            query = query.where(tuple_(*order) < tuple_(*end))
        query = query.order_by(*(column.desc() for column in order)).limit(size)
        async with self._database.reading() as connection:
            return [job_from_row(row) for row in (await connection.execute(query)).mappings()]

    async def count(self, wanted: JobFilter, most: int) -> int:
        """The number of jobs that fit a filter, or `most` if there are more."""
        found = select(jobs.c.job_id).where(*_conditions(wanted)).limit(most).subquery()
        async with self._database.reading() as connection:
            return await connection.scalar(select(func.count()).select_from(found)) or 0

    async def reservations_between(
        self, begin: datetime, end: datetime, account_ids: Collection[str] = (), user_id: str = ""
    ) -> AsyncGenerator[Job]:
        """Yields the reservations that were made before `end` and not over by `begin`, oldest first."""
        last: tuple[datetime, str] | None = None
        while True:
            query = select(jobs).where(
                jobs.c.reservation.is_not(None),
                jobs.c.state.not_in(UNSEEN_STATES),
                jobs.c.create_time < end,
                jobs.c.end_time.is_(None) | (jobs.c.end_time > begin),
            )
            if account_ids:
                query = query.where(jobs.c.account_id.in_(account_ids))
            if user_id:
                query = query.where(jobs.c.user_id == user_id)
            if last:
                query = query.where(
                    tuple_(jobs.c.create_time, jobs.c.job_id) > tuple_(literal(last[0], Instant), last[1])
                )
            query = query.order_by(jobs.c.create_time, jobs.c.job_id).limit(RESERVATIONS_IN_A_QUERY)
            async with self._database.reading() as connection:
                found = [job_from_row(row) for row in (await connection.execute(query)).mappings()]
            for job in found:
                yield job
            if len(found) < RESERVATIONS_IN_A_QUERY:
                return
            last = found[-1].create_time, found[-1].job_id

    async def running_reservations(self, job_id: str = "") -> list[Job]:
        """The reservations that have machines; with a `job_id` that one alone, if it does."""
        query = select(jobs).where(jobs.c.reservation.is_not(None), jobs.c.state == JobState.RUNNING)
        if job_id:
            query = query.where(jobs.c.job_id == job_id)
        async with self._database.reading() as connection:
            return [job_from_row(row) for row in (await connection.execute(query)).mappings()]

    async def reservation_names(self, account_id: str, user_id: str) -> frozenset[str]:
        """The names of a user's reservations that are not over."""
        query = select(jobs.c.reservation).where(
            jobs.c.reservation.is_not(None),
            jobs.c.account_id == account_id,
            jobs.c.user_id == user_id,
            jobs.c.state.in_(IN_FLIGHT_STATES),
        )
        async with self._database.reading() as connection:
            return frozenset(row.reservation.name for row in await connection.execute(query))

    async def events(self, job_id: str, after_seq: int, limit: int) -> list[JobEvent]:
        """Up to `limit` events after a sequence number, in order."""
        parameters = {"job_id": job_id, "after_seq": after_seq, "most": limit}
        async with self._database.reading() as connection:
            rows = await connection.execute(statements.EVENTS, parameters)
            return [event_from_row(row) for row in rows.mappings()]

    async def last_seqs(self, job_ids: Sequence[str]) -> dict[str, int]:
        """The last sequence number of each job."""
        last: dict[str, int] = {}
        async with self._database.reading() as connection:
            for start in range(0, len(job_ids), IDS_IN_A_QUERY):
                chosen = jobs.c.job_id.in_(job_ids[start : start + IDS_IN_A_QUERY])
                rows = await connection.execute(select(jobs.c.job_id, jobs.c.last_seq).where(chosen))
                last |= {row.job_id: row.last_seq for row in rows}
        return last

    async def revision(self) -> int:
        """The number of the last change of any job."""
        async with self._database.reading() as connection:
            return (await connection.execute(select(job_revision.c.revision))).scalar_one()

    async def changed_jobs(self, account_id: str, revision: int, limit: int) -> list[tuple[int, Job]]:
        """Up to `limit` submissions of an account that changed after a revision, in order.

        Each comes once, with the revision of its last change.
        """
        query = (
            select(jobs)
            .where(*_conditions(JobFilter((account_id,))), jobs.c.revision > revision)
            .order_by(jobs.c.revision)
            .limit(limit)
        )
        async with self._database.reading() as connection:
            return [(row["revision"], job_from_row(row)) for row in (await connection.execute(query)).mappings()]

    async def last_revisions(self, account_ids: Sequence[str], revision: int) -> dict[str, int]:
        """For each of the accounts whose jobs changed after that one, the number of its last change."""
        last: dict[str, int] = {}
        async with self._database.reading() as connection:
            for start in range(0, len(account_ids), IDS_IN_A_QUERY):
                chosen = jobs.c.account_id.in_(account_ids[start : start + IDS_IN_A_QUERY])
                query = select(jobs.c.account_id, func.max(jobs.c.revision).label("revision"))
                query = query.where(chosen, jobs.c.revision > revision).group_by(jobs.c.account_id)
                rows = await connection.execute(query)
                last |= {row.account_id: row.revision for row in rows}
        return last

    @asynccontextmanager
    async def hearing_last_seqs(self, heard: Callable[[str, int], None]) -> AsyncGenerator[asyncio.Event]:
        """Calls `heard` with a job and its last sequence number after each commit of events, on PostgreSQL alone.

        Yields an event that is set if the connection breaks.
        """

        def parsed(payload: str) -> None:
            job_id, last_seq = payload.rsplit(" ", 1)
            heard(job_id, int(last_seq))

        async with self._database.listening(EVENTS_CHANNEL, parsed) as broken:
            yield broken

    async def counts(self) -> dict[JobState, int]:
        """Number of jobs in each state that has any."""
        query = select(jobs.c.state, func.count().label("jobs")).group_by(jobs.c.state)
        async with self._database.reading() as connection:
            return {JobState(row.state): row.jobs for row in await connection.execute(query)}

    async def run_times(self, states: Collection[JobState], limit: int) -> list[tuple[RunKind, timedelta]]:
        """Times for which the last jobs that ended in these states had machines, with their kinds, oldest first."""
        query = (
            select(
                *(jobs.c.start_time, jobs.c.end_time, jobs.c.submission, jobs.c.machine_gpu_type, jobs.c.gpu_type),
                *(jobs.c.user_id, jobs.c.account_id),
            )
            .where(jobs.c.state.in_(states), jobs.c.start_time.is_not(None), jobs.c.reservation.is_(None))
            .order_by(jobs.c.end_time.desc())
            .limit(limit)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [(_kind_of_row(row), row.end_time - row.start_time) for row in reversed(rows)]


def _conditions(wanted: JobFilter) -> list[ColumnElement[bool]]:
    by_field = (
        (wanted.account_ids, jobs.c.account_id.in_(wanted.account_ids)),
        (wanted.user_id, jobs.c.user_id == wanted.user_id),
        (wanted.states, jobs.c.state.in_(wanted.states)),
        (wanted.reservation_states, jobs.c.reservation_state.in_(wanted.reservation_states)),
        (wanted.modes, _one_of(jobs.c.mode, wanted.modes)),
        (wanted.statuses, _one_of(jobs.c.status, wanted.statuses)),
        (wanted.gpu_type, jobs.c.ran_on == wanted.gpu_type),
        (wanted.dtype, jobs.c.dtype == wanted.dtype),
        (wanted.timed_as, _of_key(wanted)),
        (wanted.problem, jobs.c.problem == wanted.problem),
        (wanted.verdicts, _one_of(jobs.c.verdict, wanted.verdicts) & jobs.c.end_time.is_not(None)),
        (wanted.queue, jobs.c.queue == wanted.queue),
        (wanted.visibility, jobs.c.visibility == wanted.visibility),
        (wanted.begin, jobs.c.create_time >= literal(wanted.begin, Instant)),
        (wanted.end, jobs.c.create_time < literal(wanted.end, Instant)),
    )
    kind = jobs.c.reservation.is_not(None) if wanted.reservations else jobs.c.reservation.is_(None)
    return [jobs.c.state.not_in(UNSEEN_STATES), kind, *(condition for given, condition in by_field if given)]


def _one_of(column: ColumnElement[Any], values: Collection[Any]) -> ColumnElement[bool]:
    # PostgreSQL looks for one value in the index, and for one of several in the rows.
    return column == next(iter(values)) if len(values) == 1 else column.in_(values)


def _of_key(wanted: JobFilter) -> ColumnElement[bool]:
    key = asdict(wanted.timed_as) if wanted.timed_as else {}
    return and_(jobs.c.job_id != wanted.other_than, *(jobs.c[name] == value for name, value in key.items()))


def _kind_of_row(row: Any) -> RunKind:  # noqa: ANN401 - a row of the columns above
    submission = Submission.FromString(row.submission)
    return kind_by(submission, row.machine_gpu_type or row.gpu_type, row.user_id or row.account_id)
