"""Reads rankings: the best time of each user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Row, func, select

from servicekit.db.database import Database
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.store.tables import jobs, proven_times
from submissions.visibility import Visibility


@dataclass(frozen=True)
class Ranked:
    """A user's best time in nanoseconds, the earliest of equal ones; `times` is how many times of the user count."""

    rank: int
    user_id: str
    job_id: str
    runtime_ns: float
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


class RankingReader:
    """Reads rankings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ranking(self, key: RankingKey, limit: int, user_id: str = "") -> Ranking:
        """The best time of each user of a key, fastest first; users with equal times have one rank."""
        row = proven_times.c
        of_key = (
            (row.problem == key.problem)
            & (row.hardware == key.hardware)
            & (row.dtype == key.dtype)
            & (row.timing_mode == key.timing_mode)
        )
        own_order = func.row_number().over(
            partition_by=row.user_id, order_by=(row.runtime_ns, row.end_time, row.job_id)
        )
        times = func.count().over(partition_by=row.user_id)
        each = select(proven_times, own_order.label("own_order"), times.label("times")).where(of_key).subquery()
        rank = func.rank().over(order_by=each.c.runtime_ns).label("rank")
        is_public = (jobs.c.visibility == Visibility.PUBLIC).label("is_public")
        of_job = each.join(jobs, jobs.c.job_id == each.c.job_id)
        best = select(each, rank, is_public).select_from(of_job).where(each.c.own_order == 1).subquery()
        first = select(best).order_by(best.c.rank, best.c.end_time, best.c.job_id).limit(limit)
        async with self._database.snapshot() as connection:
            rows = (await connection.execute(first)).all()
            users = await connection.scalar(select(func.count(row.user_id.distinct())).where(of_key))
            own = (await connection.execute(select(best).where(best.c.user_id == user_id))).one_or_none()
        return Ranking([_ranked(one) for one in rows], _ranked(own) if own else None, users or 0)


def _ranked(row: Row[tuple[object, ...]]) -> Ranked:
    return Ranked(row.rank, row.user_id, row.job_id, row.runtime_ns, row.gflops, row.end_time, row.times, row.is_public)
