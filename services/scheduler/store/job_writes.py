"""Writes of jobs, carried out in groups: as if one after the other, but with a statement for many of them.

What the writes need to know is read once and locked; the result of each then follows in memory, in order. The rows are
written in waves. A wave has at most one change of a job, so that the database sees, and checks, every move.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Insert
from sqlalchemy.ext.asyncio import AsyncConnection
from wavepool.submission.v1.submission_pb2 import Submission

from services.scheduler.jobs.allowance import WINDOW, Allowance, SubmissionLimits
from services.scheduler.jobs.ended_attempt import EndedAttempt, ended_attempt
from services.scheduler.jobs.errors import IllegalMoveError, QueueFullError, StaleJobError
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.progress import ALL_DTYPES, SubmissionDay, attempted, submission_day
from services.scheduler.jobs.reservation_states import RESERVATION_MOVES, ReservationState
from services.scheduler.jobs.states import IN_FLIGHT_STATES, JobState
from services.scheduler.jobs.timing import proven_time
from services.scheduler.store import statements
from services.scheduler.store.account_use import AccountUse, allowance_of, uses_of
from services.scheduler.store.rows import (
    attempt_to_row,
    changed_columns,
    event_to_row,
    job_from_row,
    job_to_row,
    reservation_state,
    time_to_row,
)


@dataclass(frozen=True)
class Insertion:
    """A new job without its texts, and these.

    It is refused if its account has used up one of the limits, or if its user has `most_of_user` jobs in flight in its
    queue, which is not 0.
    """

    job: Job
    texts: Submission
    limits: SubmissionLimits
    most_of_user: int


@dataclass(frozen=True)
class Move:
    """A move, and the payloads of its events; with `keeps_reservation`, only if the reservation is as in `before`."""

    before: Job
    after: Job
    payloads: Sequence[bytes]
    now: datetime
    keeps_reservation: bool = False

    @property
    def job(self) -> Job:
        """The job as the move found it."""
        return self.before


@dataclass(frozen=True)
class Labelling:
    """New values of what people may change of a job in any state, and no move touches: its name and its visibility."""

    job: Job
    changes: Mapping[str, str]


@dataclass(frozen=True)
class Deletion:
    """The end of a row that is still in the state of `job`."""

    job: Job


class Submitted(NamedTuple):
    """The job that stands for a submission, None if a limit refused it, and what its account may still submit."""

    job: Job | None
    allowance: Allowance


@dataclass(frozen=True)
class Moved:
    """The new row of a job, the events of the move, and the attempt that it ended."""

    job: Job
    events: Sequence[JobEvent]
    ended: EndedAttempt | None


Write = Insertion | Move | Labelling | Deletion
Written = Submitted | Moved | None
"""The result of an insertion, a move, or another write."""


async def write_all(connection: AsyncConnection, writes: Sequence[Write]) -> list[Written | Exception]:
    """Carries the writes out in order.

    StaleJobError is the result of a move whose row has changed, IllegalMoveError that of one which is a bug, and
    QueueFullError that of an insertion into a queue with too many jobs of its user.
    """
    group = _Group(connection)
    last = (await connection.execute(statements.COUNT_CHANGES, {"changes": len(writes)})).scalar_one()
    await group.read(writes)
    results = [await group.write(write, revision) for revision, write in enumerate(writes, last - len(writes) + 1)]
    await group.flush()
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
    attempts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tries: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    solves: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    days: Counter[SubmissionDay] = field(default_factory=Counter[SubmissionDay])

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
            (statements.INSERT_ATTEMPT, self.attempts),
            *self._counts(connection.dialect.name),
        ):
            if rows:
                await connection.execute(statement, rows)

    def _counts(self, dialect_name: str) -> Iterator[tuple[Insert, list[dict[str, Any]]]]:
        """What the ends of jobs add to counts."""
        key = ("user_id", "problem", "dtype")
        tries = [
            {**dict(zip(key, one, strict=True)), "attempts": count, "solves": self.solves[one]}
            for one, count in sorted(self.tries.items())
        ]
        yield statements.count_attempts(dialect_name), tries
        solved = [{f"by_{name}": one[name] for name in (*key, "solves")} for one in tries if one["solves"]]
        yield statements.count_solver(dialect_name), solved
        days = [{**day._asdict(), "submissions": count} for day, count in sorted(self.days.items())]
        yield statements.count_day(dialect_name), days


class _Group:
    """The writes of one transaction, and what is known of the rows, kept up to date with each write."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._wave = _Wave()
        self._rows: dict[str, dict[str, Any]] = {}
        self._jobs_by_key: dict[tuple[str, str | None], Job] = {}
        self._uses: dict[str, AccountUse] = {}
        self._in_queue: Counter[tuple[str, str]] = Counter()

    async def read(self, writes: Sequence[Write]) -> None:
        """Reads what the writes need to know, and locks it. All processes lock accounts before jobs, each in order."""
        inserted = [write for write in writes if isinstance(write, Insertion)]
        account_ids = sorted({write.job.account_id for write in inserted})
        # On SQLite the whole database has one writer; elsewhere two submissions could count past each other.
        if inserted and self._connection.dialect.name == "postgresql":
            await self._connection.execute(statements.LOCK_ACCOUNTS, {"account_ids": account_ids})
        if moved := {write.job.job_id for write in writes if not isinstance(write, Insertion)}:
            found = await self._connection.execute(statements.LOCKED_JOBS, {"job_ids": sorted(moved)})
            self._rows = {row["job_id"]: dict(row) for row in found.mappings()}
        if inserted:
            await self._read_for(inserted, account_ids)

    async def _read_for(self, inserted: Sequence[Insertion], account_ids: Sequence[str]) -> None:
        since = min(write.job.create_time for write in inserted) - WINDOW
        self._uses = await uses_of(self._connection, account_ids, since)
        if keys := sorted({key for write in inserted if (key := write.job.idempotency_key) is not None}):
            parameters = {"account_ids": account_ids, "keys": keys}
            for row in (await self._connection.execute(statements.BY_KEY, parameters)).mappings():
                self._jobs_by_key[row["account_id"], row["idempotency_key"]] = job_from_row(row)
        if limited := [write.job for write in inserted if write.most_of_user]:
            user_ids, queues = {job.user_id for job in limited}, {job.spec.queue for job in limited}
            parameters = {"user_ids": sorted(user_ids), "queues": sorted(queues)}
            for row in await self._connection.execute(statements.IN_QUEUES, parameters):
                self._in_queue[row.user_id, row.queue] = row.jobs

    async def flush(self) -> None:
        """Writes the changes of the wave."""
        wave, self._wave = self._wave, _Wave()
        await wave.execute(self._connection)

    async def write(self, write: Write, revision: int) -> Written | Exception:
        """Carries a write out, which is the change with that number, or has the next wave do so."""
        if write.job.job_id in self._wave.job_ids:
            await self.flush()
        match write:
            case Insertion():
                return await self._insert(write, revision)
            case Move():
                return self._move(write, revision)
            case Labelling():
                return self._label(write, revision)
            case Deletion():
                return self._delete(write)

    async def _insert(self, write: Insertion, revision: int) -> Submitted | QueueFullError:
        job, most = write.job, write.most_of_user
        allowance = await self._allowance(job, write.limits)
        if earlier := self._jobs_by_key.get((job.account_id, job.idempotency_key)):
            return Submitted(earlier, allowance)
        if most and self._in_queue[job.user_id, job.spec.queue] >= most:
            return QueueFullError(job.spec.queue, most)
        if not allowance.remaining:
            return Submitted(None, allowance)
        row = job_to_row(job) | {"revision": revision}
        self._set(job, row)
        self._uses[job.account_id].add(job.create_time)
        self._wave.inserted.append(row)
        self._wave.texts.append({"job_id": job.job_id, "texts": write.texts.SerializeToString()})
        self._wave.job_ids.add(job.job_id)
        return Submitted(job, allowance.after_one_more())

    async def _allowance(self, job: Job, limits: SubmissionLimits) -> Allowance:
        """What the account may submit when the job was created."""
        account_id, since = job.account_id, job.create_time - WINDOW
        use = self._uses.get(account_id)
        if use is None or not use.is_same_after(since) or use.is_above(limits):
            await self.flush()
            use = self._uses[account_id] = (await uses_of(self._connection, [account_id], since))[account_id]
        return await allowance_of(self._connection, account_id, use, limits, job.create_time)

    def _move(self, write: Move, revision: int) -> Moved | StaleJobError | IllegalMoveError:
        """Changes a row that is as the move found it, if a reservation may go to that state."""
        before = write.before
        row = self._rows.get(before.job_id)
        if row is None or any(row[name] != getattr(before, name) for name in statements.COMPARED):
            return StaleJobError(before.job_id)
        if write.keeps_reservation and row["reservation"] != before.reservation:
            return StaleJobError(before.job_id)
        changed = changed_columns(before, write.after)
        changed |= {"last_seq": row["last_seq"] + len(write.payloads), "revision": revision}
        after = row | changed
        job = write.after.changed(**{name: after[name] for name in statements.LOOSE})
        if (old := row["reservation_state"]) != (new := reservation_state(job)):
            if new is None or (old and new not in RESERVATION_MOVES[ReservationState(old)]):
                return IllegalMoveError(job.job_id, old, str(new))
            changed["reservation_state"] = new
        self._set(job, row | changed)
        events = _events(job, write.payloads, write.now)
        self._wave.updated[tuple(changed)].append(statements.update_parameters(job.job_id, changed))
        self._wave.events += map(event_to_row, events)
        if job.state is JobState.FINISHED:
            self._count(job)
        if ended := ended_attempt(before, job, write.now):
            self._wave.attempts.append(attempt_to_row(ended))
        self._wave.job_ids.add(job.job_id)
        return Moved(job, events, ended)

    def _label(self, write: Labelling, revision: int) -> None:
        """Changes a row, if it is there."""
        job_id = write.job.job_id
        if job_id in self._rows:
            changed = {**write.changes, "revision": revision}
            self._wave.updated[tuple(changed)].append(statements.update_parameters(job_id, changed))
            self._wave.job_ids.add(job_id)

    def _count(self, job: Job) -> None:
        """Adds what a job that has ended with a verdict changes for its user."""
        if time := proven_time(job):
            self._wave.times.append(time_to_row(time))
        if one := attempted(job):
            for dtype in (one.dtype, ALL_DTYPES):
                self._wave.tries[one.user_id, one.problem, dtype] += 1
                self._wave.solves[one.user_id, one.problem, dtype] += one.is_solved
        if day := submission_day(job):
            self._wave.days[day] += 1

    def _delete(self, write: Deletion) -> None:
        """Deletes a row that is in the state of the deletion's job."""
        job = write.job
        if (row := self._rows.get(job.job_id)) and row["state"] == job.state:
            self._set(job, None)
            # If it was the first submission of the hour, only the rows know which one is now.
            self._uses.pop(job.account_id, None)
            self._wave.deleted.append({"deleted_id": job.job_id})
            self._wave.job_ids.add(job.job_id)

    def _set(self, job: Job, row: dict[str, Any] | None) -> None:
        """Replaces the row of a job, and with it what counts and finds the job."""
        in_flight = 0
        if before := self._rows.pop(job.job_id, None):
            in_flight -= before["state"] in IN_FLIGHT_STATES
            self._jobs_by_key.pop((job.account_id, before["idempotency_key"]), None)
        if row:
            self._rows[job.job_id] = row
            in_flight += row["state"] in IN_FLIGHT_STATES
            if row["idempotency_key"] is not None:
                self._jobs_by_key[job.account_id, row["idempotency_key"]] = job
        self._in_queue[job.user_id, job.spec.queue] += in_flight
        if use := self._uses.get(job.account_id):
            use.jobs_in_flight += in_flight


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
