"""Writes of jobs, carried out in groups: as if one after the other, but with a statement for many of them.

What the writes need to know is read once and locked; the result of each then follows in memory, in order. The rows are
written in waves. A wave has at most one change of a job, so that the database sees, and checks, every move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import IN_FLIGHT_STATES, Job, JobEvent, JobState
from services.scheduler.jobs.timing import proven_time
from services.scheduler.store import statements
from services.scheduler.store.rows import changed_columns, event_to_row, job_from_row, job_to_row, time_to_row

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.ext.asyncio import AsyncConnection
    from wavepool.submission.v1.submission_pb2 import Submission


@dataclass(frozen=True)
class Insertion:
    """A new job without its texts, and these; refused if its account has `max_in_flight` jobs in flight."""

    job: Job
    texts: Submission
    max_in_flight: int


@dataclass(frozen=True)
class Move:
    """A move, and the payloads of its events."""

    before: Job
    after: Job
    payloads: Sequence[bytes]
    now: datetime

    @property
    def job(self) -> Job:
        """The job as the move found it."""
        return self.before


@dataclass(frozen=True)
class Deletion:
    """The end of a row that is still in the state of `job`."""

    job: Job


Write = Insertion | Move | Deletion


@dataclass(frozen=True)
class Written:
    """The result of a write.

    Of an insertion, `job` is the new job or the earlier one with the same key, or None if the account has too many. Of
    a move it is the new row.
    """

    job: Job | None = None
    events: Sequence[JobEvent] = ()


async def write_all(connection: AsyncConnection, writes: Sequence[Write]) -> list[Written | Exception]:
    """Carries the writes out in order; StaleJobError is the result of a move whose row has changed."""
    table = _Table()
    await table.read(connection, writes)
    results: list[Written | Exception] = []
    wave = _Wave()
    for write in writes:
        if write.job.job_id in wave.job_ids:
            await wave.execute(connection)
            wave = _Wave()
        match write:
            case Insertion():
                results.append(table.insert(write, wave))
            case Move():
                results.append(table.move(write, wave))
            case Deletion():
                results.append(table.delete(write, wave))
    await wave.execute(connection)
    return results


@dataclass
class _Wave:
    """Changes of different jobs, which the database takes in any order but this: a key is freed before it is used."""

    job_ids: set[str] = field(default_factory=set[str])
    deleted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    updated: defaultdict[tuple[str, ...], list[dict[str, Any]]] = field(
        default_factory=lambda: defaultdict[tuple[str, ...], list[dict[str, Any]]](list)
    )
    inserted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    texts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    times: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def execute(self, connection: AsyncConnection) -> None:
        """Carries the changes out."""
        if self.deleted:
            await connection.execute(statements.DELETE_JOB, self.deleted)
        for columns, rows in self.updated.items():
            await connection.execute(statements.update_of(columns), rows)
        for statement, rows in (
            (statements.INSERT_JOB, self.inserted),
            (statements.INSERT_TEXTS, self.texts),
            (statements.INSERT_EVENTS, self.events),
            (statements.INSERT_PROVEN_TIME, self.times),
        ):
            if rows:
                await connection.execute(statement, rows)


class _Table:
    """What is known of the rows, kept up to date with each write."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}
        self._jobs_by_key: dict[tuple[str, str | None], Job] = {}
        self._in_flight: Counter[str] = Counter()

    async def read(self, connection: AsyncConnection, writes: Sequence[Write]) -> None:
        """Reads what the writes need to know, and locks it. All processes lock accounts before jobs, each in order."""
        if inserted := [write.job for write in writes if isinstance(write, Insertion)]:
            account_ids = sorted({job.account_id for job in inserted})
            # On SQLite the whole database has one writer; elsewhere two submissions could count past each other.
            if connection.dialect.name == "postgresql":
                await connection.execute(statements.LOCK_ACCOUNTS, {"account_ids": account_ids})
            for row in await connection.execute(statements.IN_FLIGHT, {"account_ids": account_ids}):
                self._in_flight[row.account_id] = row.jobs
            keys = sorted({job.idempotency_key for job in inserted if job.idempotency_key is not None})
            found = await connection.execute(statements.BY_KEY, {"account_ids": account_ids, "keys": keys})
            for row in found.mappings():
                self._jobs_by_key[row["account_id"], row["idempotency_key"]] = job_from_row(row)
        if moved := {write.job.job_id for write in writes if not isinstance(write, Insertion)}:
            found = await connection.execute(statements.LOCKED_JOBS, {"job_ids": sorted(moved)})
            self._rows = {row["job_id"]: dict(row) for row in found.mappings()}

    def insert(self, write: Insertion, wave: _Wave) -> Written:
        """Adds a job, if its key and its account's limit let it."""
        job = write.job
        if earlier := self._jobs_by_key.get((job.account_id, job.idempotency_key)):
            return Written(earlier)
        if self._in_flight[job.account_id] >= write.max_in_flight:
            return Written()
        row = job_to_row(job)
        self._set(job, row)
        wave.inserted.append(row)
        wave.texts.append({"job_id": job.job_id, "texts": write.texts.SerializeToString()})
        wave.job_ids.add(job.job_id)
        return Written(job)

    def move(self, write: Move, wave: _Wave) -> Written | StaleJobError:
        """Changes a row that is as the move found it."""
        before = write.before
        row = self._rows.get(before.job_id)
        if row is None or any(row[name] != getattr(before, name) for name in statements.COMPARED):
            return StaleJobError(before.job_id)
        changed = changed_columns(before, write.after)
        changed["last_seq"] = row["last_seq"] + len(write.payloads)
        row = row | changed
        job = write.after.changed(**{name: row[name] for name in statements.LOOSE})
        self._set(job, row)
        events = _events(job, write.payloads, write.now)
        wave.updated[tuple(changed)].append(statements.update_parameters(job.job_id, changed))
        wave.events += map(event_to_row, events)
        if job.state is JobState.FINISHED and (time := proven_time(job)):
            wave.times.append(time_to_row(time))
        wave.job_ids.add(job.job_id)
        return Written(job, events)

    def delete(self, write: Deletion, wave: _Wave) -> Written:
        """Deletes a row that is in the state of the deletion's job."""
        job = write.job
        if (row := self._rows.get(job.job_id)) and row["state"] == job.state:
            self._set(job, None)
            wave.deleted.append({"deleted_id": job.job_id})
            wave.job_ids.add(job.job_id)
        return Written()

    def _set(self, job: Job, row: dict[str, Any] | None) -> None:
        """Replaces the row of a job, and with it what counts and finds the job."""
        if before := self._rows.pop(job.job_id, None):
            self._in_flight[job.account_id] -= before["state"] in IN_FLIGHT_STATES
            self._jobs_by_key.pop((job.account_id, before["idempotency_key"]), None)
        if row:
            self._rows[job.job_id] = row
            self._in_flight[job.account_id] += row["state"] in IN_FLIGHT_STATES
            if row["idempotency_key"] is not None:
                self._jobs_by_key[job.account_id, row["idempotency_key"]] = job


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
