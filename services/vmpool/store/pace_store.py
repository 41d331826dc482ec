"""Measures from the rows how long jobs hold a machine, and how long machines take to be ready."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from statistics import fmean, median
from typing import Any

from sqlalchemy import Select, select

from servicekit.clock import Clock
from servicekit.db.database import Database
from services.vmpool.machines.lease import Holder
from services.vmpool.policy.packing import Pace
from services.vmpool.store.tables import leases, machines

HISTORY = 200
"""Number of the latest leases and of the latest starts that count, over all GPU types."""

LIFETIME = timedelta(seconds=10)
"""Time for which a measurement is used. Paces change over hours."""


class PaceStore:
    """Measures paces."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._paces: Mapping[str, Pace] = {}
        self._read_time: datetime | None = None

    async def paces(self) -> Mapping[str, Pace]:
        """Paces by GPU type: the mean time of a lease, at which a queue moves, and the median time of a start."""
        now = self._clock.now()
        if self._read_time is None or abs(now - self._read_time) >= LIFETIME:
            job_times = await self._spans(_latest_leases())
            start_times = await self._spans(_latest_starts())
            self._paces = {
                gpu_type: Pace(_mean(job_times[gpu_type]), _median(start_times[gpu_type]))
                for gpu_type in job_times.keys() | start_times.keys()
            }
            self._read_time = now
        return self._paces

    async def _spans(self, query: Select[Any, Any, Any]) -> defaultdict[str, list[float]]:
        spans: defaultdict[str, list[float]] = defaultdict(list)
        async with self._database.reading() as connection:
            for row in await connection.execute(query):
                spans[row.gpu_type].append((row.until - row.since).total_seconds())
        return spans


def _latest_leases() -> Select[Any, Any, Any]:
    return (
        select(leases.c.gpu_type, leases.c.create_time.label("since"), leases.c.end_time.label("until"))
        .where(leases.c.end_time.is_not(None), leases.c.holder == Holder.JOB.value)
        .order_by(leases.c.end_time.desc())
        .limit(HISTORY)
    )


def _latest_starts() -> Select[Any, Any, Any]:
    return (
        select(machines.c.gpu_type, machines.c.create_time.label("since"), machines.c.ready_time.label("until"))
        .where(machines.c.ready_time.is_not(None))
        .order_by(machines.c.create_time.desc())
        .limit(HISTORY)
    )


def _mean(seconds: Iterable[float]) -> timedelta | None:
    values = list(seconds)
    return timedelta(seconds=fmean(values)) if values else None


def _median(seconds: Iterable[float]) -> timedelta | None:
    values = list(seconds)
    return timedelta(seconds=median(values)) if values else None
