"""Reads rankings: the best time of each user, records, and what users have reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Row, Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from services.scheduler.jobs.progress import ALL_DTYPES
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.store.tables import jobs, problem_attempts, problem_solvers, proven_times, submission_days
from submissions.visibility import Visibility


@dataclass(frozen=True)
class Ranked:
    """A user's best time in nanoseconds, the earliest of equal ones; `times` is how many times of the user count.

    `interval` is half the width of its interval, over the time.
    """

    rank: int
    user_id: str
    job_id: str
    runtime_ns: float
    interval: float
    gflops: float
    end_time: datetime
    times: int
    is_public: bool


@dataclass(frozen=True)
class Ranking:
    """The first users, and the one that was asked for, None without a time; `users` is how many have one."""

    best: Sequence[Ranked]
    own: Ranked | None
    users: int


@dataclass(frozen=True)
class Record:
    """A time in nanoseconds that was the best so far, with its interval."""

    end_time: datetime
    runtime_ns: float
    interval: float
    user_id: str
    job_id: str
    is_public: bool


@dataclass(frozen=True)
class Progress:
    """What a user has reached in a problem, and what all have; a time, in nanoseconds, has its interval beside it."""

    attempts: int = 0
    is_solved: bool = False
    users: int = 0
    record: tuple[float, float] | None = None
    best: tuple[float, float] | None = None


MOST_RECORDS = 500
_IS_PUBLIC = (jobs.c.visibility == Visibility.PUBLIC).label("is_public")


class RankingReader:
    """Reads rankings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ranking(self, key: RankingKey, limit: int, user_id: str = "") -> Ranking:
        """The best time of each user of a key, fastest first; users with equal times have one rank."""
        row, of_key = proven_times.c, _of_key(key)
        own_order = func.row_number().over(
            partition_by=row.user_id, order_by=(row.runtime_ns, row.end_time, row.job_id)
        )
        times = func.count().over(partition_by=row.user_id)
        each = select(proven_times, own_order.label("own_order"), times.label("times")).where(of_key).subquery()
        rank = func.rank().over(order_by=each.c.runtime_ns).label("rank")
        of_job = each.join(jobs, jobs.c.job_id == each.c.job_id)
        best = select(each, rank, _IS_PUBLIC).select_from(of_job).where(each.c.own_order == 1).subquery()
        first = select(best).order_by(best.c.rank, best.c.end_time, best.c.job_id).limit(limit)
        async with self._database.snapshot() as connection:
            rows = (await connection.execute(first)).all()
            users = await connection.scalar(select(func.count(row.user_id.distinct())).where(of_key))
            own = (await connection.execute(select(best).where(best.c.user_id == user_id))).one_or_none()
        return Ranking([_ranked(one) for one in rows], _ranked(own) if own else None, users or 0)

    async def records(self, key: RankingKey, user_id: str) -> tuple[Sequence[Record], Sequence[Record]]:
        """The times that were the best so far, oldest first: of all users, and of one; at most the last of each."""
        of_key = _of_key(key)
        async with self._database.snapshot() as connection:
            rows = (await connection.execute(_records(of_key))).all()
            own = (await connection.execute(_records(of_key & (proven_times.c.user_id == user_id)))).all()
        return [_record(one) for one in reversed(rows)], [_record(one) for one in reversed(own)]

    async def progress(self, user_id: str, times: RankingKey, dtype: str) -> Mapping[str, Progress]:
        """Each problem that the user has tried or somebody has solved, in `dtype`, or in any if it is empty.

        Times are of the key, whatever its problem; its element type is `dtype` if this is not empty.
        """
        async with self._database.snapshot() as connection:
            tried = await _tried(connection, user_id, dtype)
            by_all = await _solved_by_all(connection, times, dtype)
            best = await _own_best(connection, user_id, times)
        return {
            slug: Progress(*tried.get(slug, (0, False)), *by_all.get(slug, (0, None)), best=best.get(slug))
            for slug in sorted(tried.keys() | by_all.keys())
        }

    async def solved(self, user_id: str) -> frozenset[str]:
        """The problems that a user has solved in some element type."""
        row = problem_attempts.c
        query = select(row.problem).where(row.user_id == user_id, row.dtype == ALL_DTYPES, row.solves > 0)
        async with self._database.reading() as connection:
            return frozenset((await connection.execute(query)).scalars())

    async def submission_days(self, user_id: str, first: date) -> Sequence[tuple[str, int]]:
        """The days from `first` on that a user submitted on, and how often, oldest first."""
        row = submission_days.c
        query = select(row.day, row.submissions).where(row.user_id == user_id, row.day >= first.isoformat())
        async with self._database.reading() as connection:
            return [(one.day, one.submissions) for one in await connection.execute(query.order_by(row.day))]


def _of_key(key: RankingKey) -> ColumnElement[bool]:
    return _of_kind(key) & (proven_times.c.problem == key.problem)


def _of_kind(key: RankingKey, times: FromClause = proven_times) -> ColumnElement[bool]:
    """The times that were measured in the way of the key, of whatever problem."""
    row = times.c
    return (row.hardware == key.hardware) & (row.dtype == key.dtype) & (row.timing_mode == key.timing_mode)


def _records(wanted: ColumnElement[bool]) -> Select[Any, Any, Any, Any, Any, bool]:
    """The times that were faster than all before them, newest first."""
    row = proven_times.c
    order = (row.end_time, row.job_id)
    before = func.min(row.runtime_ns).over(order_by=order, rows=(None, -1)).label("before")
    each = (
        select(row.end_time, row.runtime_ns, row.interval, row.user_id, row.job_id, before).where(wanted).subquery().c
    )
    is_record = each.before.is_(None) | (each.runtime_ns < each.before)
    columns = (each.end_time, each.runtime_ns, each.interval, each.user_id, each.job_id, _IS_PUBLIC)
    query = select(*columns).join(jobs, jobs.c.job_id == each.job_id).where(is_record)
    return query.order_by(each.end_time.desc(), each.job_id.desc()).limit(MOST_RECORDS)


async def _tried(connection: AsyncConnection, user_id: str, dtype: str) -> Mapping[str, tuple[int, bool]]:
    """The user's tries of each problem, and whether one solved it."""
    row = problem_attempts.c
    query = select(row.problem, row.attempts, row.solves).where(row.user_id == user_id, row.dtype == dtype)
    return {one.problem: (one.attempts, one.solves > 0) for one in await connection.execute(query)}


async def _solved_by_all(
    connection: AsyncConnection, times: RankingKey, dtype: str
) -> Mapping[str, tuple[int, tuple[float, float] | None]]:
    """How many users solved each problem, and its best time; only who solved a problem has one."""
    row, time, record = problem_solvers.c, proven_times.c, proven_times.alias("record")
    least = select(func.min(time.runtime_ns)).where(_of_kind(times), time.problem == row.problem)
    is_record = _of_kind(times, record) & (record.c.problem == row.problem)
    is_record &= record.c.runtime_ns == least.correlate(problem_solvers).scalar_subquery()
    query = select(row.problem, row.users, record.c.runtime_ns, record.c.interval).where(row.dtype == dtype)
    # Of equal times any one; each has a row.
    found = await connection.execute(query.outerjoin_from(problem_solvers, record, is_record))
    return {
        one.problem: (one.users, None if one.runtime_ns is None else (one.runtime_ns, one.interval)) for one in found
    }


async def _own_best(connection: AsyncConnection, user_id: str, times: RankingKey) -> Mapping[str, tuple[float, float]]:
    row = proven_times.c
    of_user = _of_kind(times) & (row.user_id == user_id)
    least = select(row.problem, func.min(row.runtime_ns).label("runtime_ns")).where(of_user).group_by(row.problem)
    best = least.subquery().c
    query = select(row.problem, row.runtime_ns, row.interval).where(of_user)
    found = await connection.execute(query.where(row.problem == best.problem, row.runtime_ns == best.runtime_ns))
    return {one.problem: (one.runtime_ns, one.interval) for one in found}


def _record(row: Row[*tuple[Any, ...]]) -> Record:
    return Record(row.end_time, row.runtime_ns, row.interval, row.user_id, row.job_id, row.is_public)


def _ranked(row: Row[*tuple[Any, ...]]) -> Ranked:
    time = (row.runtime_ns, row.interval, row.gflops, row.end_time)
    return Ranked(row.rank, row.user_id, row.job_id, *time, row.times, row.is_public)
