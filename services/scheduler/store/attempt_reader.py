"""Reads the figures of attempts that are over, and forgets old ones."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Text, case, cast, delete, func, literal, select, tuple_
from sqlalchemy.sql.elements import ColumnElement

from servicekit.db.database import Database
from services.scheduler.jobs.job_figures import Grouping, JobFigures, spread_of
from services.scheduler.jobs.problem_runs import ProblemRuns
from services.scheduler.jobs.queue_state import EndCounts
from services.scheduler.jobs.states import JobState
from services.scheduler.store.tables import attempts
from vocabulary.verdicts import ACCEPTED

MOST_GROUPS = 200
"""Billing gives the names of so many users in one answer."""
FORGET_BATCH = 2000
"""Rows of one transaction: few, so that other writers do not wait long."""
LATEST_RUNS = 5000
"""Runs that are compared with each other to see whether runs have become slower."""

_column = attempts.c
_GROUPS: dict[Grouping, ColumnElement[str]] = {
    Grouping.ALL: literal(""),
    Grouping.USER: _column.user_id,
    Grouping.QUEUE: _column.queue,
    Grouping.MACHINE: _column.machine_id,
    Grouping.PROBLEM: _column.problem,
    Grouping.GPU_TYPE: _column.gpu_type,
}


class AttemptReader:
    """Reads and forgets attempts that are over."""

    def __init__(self, database: Database, forget_batch: int = FORGET_BATCH) -> None:
        self._database = database
        self._forget_batch = forget_batch

    async def figures(
        self, grouping: Grouping, account_ids: Collection[str], since: datetime, until: datetime
    ) -> list[JobFigures]:
        """Figures of what ended from `since` until before `until`, of these accounts, or of all if none is named.

        One entry for each group, the one with most paid GPU time first, at most MOST_GROUPS.
        """
        group = _GROUPS[grouping].label("grouped")
        paid = func.sum(_column.leased_gpu_time_us)
        query = (
            select(
                group,
                _count(_column.state != "").label("jobs"),
                _count(_column.state == JobState.FINISHED).label("succeeded"),
                _count((_column.state == JobState.FINISHED) & (_column.verdict == ACCEPTED)).label("accepted"),
                _count(_column.state == JobState.FAILED).label("failed"),
                _count(_column.state == JobState.CANCELLED).label("cancelled"),
                _count(_column.lost).label("lost_attempts"),
                func.sum(_column.useful_gpu_time_us).label("useful_us"),
                paid.label("paid_us"),
                func.max(_column.gflops).label("gflops"),
                # Both databases join texts, but only one knows percentiles.
                func.aggregate_strings(cast(_column.wait_us, Text), ",").label("waits"),
                func.aggregate_strings(cast(_column.run_us, Text), ",").label("runs"),
            )
            .where(_column.end_time >= since, _column.end_time < until)
            .order_by(paid.desc(), group)
            .limit(MOST_GROUPS)
        )
        if account_ids:
            query = query.where(_column.account_id.in_(account_ids))
        if grouping is not Grouping.ALL:
            query = query.group_by(group)
        async with self._database.reading() as connection:
            rows: Sequence[Any] = (await connection.execute(query)).all()
        # Sorting the times of many jobs takes some 10 ms, for which nothing else should wait.
        return await asyncio.to_thread(lambda: [_figures(row) for row in rows if row.paid_us is not None])

    async def end_counts(self, since: datetime) -> list[EndCounts]:
        """What has ended since then, by queue and GPU type."""
        query = (
            select(
                _column.queue,
                _column.gpu_type,
                _count(_column.state != "").label("jobs"),
                _count(_column.state == JobState.FAILED).label("failed"),
                _count(_column.lost).label("lost_attempts"),
            )
            .where(_column.end_time >= since)
            .group_by(_column.queue, _column.gpu_type)
        )
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
        return [EndCounts((row.queue, row.gpu_type), row.jobs, row.failed, row.lost_attempts) for row in rows]

    async def runs_by_problem(self, since: datetime, recent_since: datetime) -> list[ProblemRuns]:
        """The times of accepted runs by problem, mode and GPU type, split at `recent_since`."""
        is_recent = (_column.end_time >= recent_since).label("is_recent")
        latest = (
            select(_column.problem, _column.mode, _column.gpu_type, _column.run_us, is_recent)
            .where(_column.end_time >= since, _column.verdict == ACCEPTED, _column.run_us.is_not(None))
            .order_by(_column.end_time.desc())
            .limit(LATEST_RUNS)
            .subquery()
        ).c
        kind = (latest.problem, latest.mode, latest.gpu_type, latest.is_recent)
        query = select(*kind, func.aggregate_strings(cast(latest.run_us, Text), ",").label("runs")).group_by(*kind)
        found: dict[tuple[str, str, str], ProblemRuns] = {}
        async with self._database.reading() as connection:
            for row in await connection.execute(query):
                runs = found.setdefault((row.problem, row.mode, row.gpu_type), ProblemRuns(row.gpu_type))
                (runs.recent if row.is_recent else runs.earlier).extend(int(one) / 1e6 for one in row.runs.split(","))
        return list(found.values())

    async def forget(self, before: datetime) -> int:
        """Forgets attempts that ended before then; gives their number."""
        key = (_column.job_id, _column.attempt)
        old = select(*key).where(_column.end_time < before).limit(self._forget_batch)
        forgotten = 0
        while True:
            async with self._database.transaction() as connection:
                count = (await connection.execute(delete(attempts).where(tuple_(*key).in_(old)))).rowcount
            forgotten += count
            if count < self._forget_batch:
                return forgotten


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _figures(row: Any) -> JobFigures:  # noqa: ANN401 - a row of the columns above
    return JobFigures(
        group=row.grouped,
        jobs=row.jobs,
        succeeded=row.succeeded,
        accepted=row.accepted,
        failed=row.failed,
        cancelled=row.cancelled,
        lost_attempts=row.lost_attempts,
        wait=spread_of(row.waits or ""),
        run=spread_of(row.runs or ""),
        useful_gpu_seconds=int(row.useful_us) / 1e6,
        paid_gpu_seconds=int(row.paid_us) / 1e6,
        gflops=row.gflops or 0.0,
    )
