"""Measures how long questions about jobs take, on both kinds of database.

    by GROUP          figures of all attempts, put together by users, problems or machines
    one account       figures of one account of 40, by problem
    last day          figures of the last day of seven, by user
    readings          what the scheduler reads for alerts with each report
    now               what waits and runs, from memory, with 1,000 jobs that wait

Run: `python -m benchmarks.job_metrics [--attempts 100000] [--only sqlite]`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import insert, text

from servicekit.clock import ManualClock
from servicekit.db.database import Database, migrate
from services.scheduler.jobs.job_figures import Grouping
from services.scheduler.monitoring.queue_monitor import QueueMonitor
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.ordering import Age, ranked_by
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.attempt_reader import AttemptReader
from services.scheduler.store.tables import attempts
from tests.postgres_server import PostgresServer
from tests.services.scheduler.jobs import a_queued_job
from vocabulary.limits import LONGEST_RUN

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
DAYS = 7
WINDOW = timedelta(minutes=15)
REPEATS = 9
WAITING = 1000
BATCH = 1000

Measurement = Callable[[Database, int], Awaitable[None]]


def rows(count: int, queues: int = 0) -> list[dict[str, Any]]:
    """Attempts of 7 days in the order of their ends, as they are written; of the default queue, or of several."""
    chance = random.Random(1)  # noqa: S311 - no secret
    ends = sorted(NOW - chance.random() * DAYS * DAY for _ in range(count))
    return [
        {
            "job_id": f"job_{chance.getrandbits(128):032x}",
            "attempt": 1,
            "account_id": f"acc_{chance.randrange(40)}",
            "user_id": f"user_{chance.randrange(50)}",
            "problem": f"problem-{chance.randrange(83)}",
            "mode": "full",
            "queue": f"q{number % queues}" if queues else "default",
            "machine_id": f"mach_{chance.randrange(100)}",
            "gpu_type": "MI300X",
            "state": "finished",
            "verdict": "ACCEPTED",
            "lost": False,
            "end_time": end,
            "wait_us": chance.randrange(10**8),
            "run_us": chance.randrange(10**8),
            "useful_gpu_time_us": 10**7,
            "leased_gpu_time_us": 2 * 10**7,
        }
        for number, end in enumerate(ends)
    ]


async def show(name: str, ask: Callable[[], Awaitable[object]]) -> None:
    """Prints the median time of some repetitions, the shortest, and this process's own processor time."""
    times: list[float] = []
    own: list[float] = []
    for _ in range(REPEATS):
        start, own_start = time.perf_counter(), time.process_time()
        await ask()
        times.append(1e3 * (time.perf_counter() - start))
        own.append(1e3 * (time.process_time() - own_start))
    figures = (statistics.median(times), min(times), min(own))
    print(f"  {name:16} median {figures[0]:8.2f}  shortest {figures[1]:8.2f}  own processor time {figures[2]:8.2f} ms")


async def fill(database: Database, count: int, queues: int = 0) -> None:
    """Makes the tables and writes so many attempts."""
    await migrate(database, MIGRATIONS)
    filled = rows(count, queues)
    for first in range(0, count, BATCH):
        async with database.transaction() as connection:
            await connection.execute(insert(attempts), filled[first : first + BATCH])


async def measure(database: Database, count: int) -> None:
    """Fills the database and measures."""
    await fill(database, count)
    if database.dialect_name == "postgresql":
        async with database.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE attempts"))
    reader, since = AttemptReader(database), NOW - DAYS * DAY
    print(f"{database.dialect_name}, {count:,} attempts")
    for grouping in (Grouping.ALL, Grouping.USER, Grouping.PROBLEM, Grouping.MACHINE):
        await show(f"by {grouping}", lambda grouping=grouping: reader.figures(grouping, [], since, NOW))
    await show("one account", lambda: reader.figures(Grouping.PROBLEM, ["acc_1"], since, NOW))
    await show("last day", lambda: reader.figures(Grouping.USER, [], NOW - DAY, NOW))
    monitor = monitor_of(reader)
    await show("readings", monitor.readings)

    async def now() -> object:
        return monitor.states()

    await show("now", now)


def monitor_of(reader: AttemptReader) -> QueueMonitor:
    """A monitor of a queue in which many jobs wait."""
    waiting = WaitingJobs(ranked_by(Age(timedelta(seconds=9))))
    for number in range(WAITING):
        waiting.put(a_queued_job(number, age_seconds=number))
    pool: Any = None
    inventory = Inventory()
    demand = DemandReporter(pool, waiting, inventory)
    running, clock = RunningJobs(), ManualClock(NOW)
    dated = DatedBook(waiting, running, inventory, clock, LONGEST_RUN)
    return QueueMonitor(waiting, inventory, demand, running, dated, reader, clock, WINDOW)


async def measure_at(url: str, measured: Measurement, count: int) -> None:
    """Measures on the database of a URL."""
    database = Database(url)
    try:
        await measured(database, count)
    finally:
        await database.close()


def measure_on_each(measured: Measurement, count: int, only: str = "") -> None:
    """Measures on each kind of database, or on `only` one."""
    if only != "postgresql":
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(measure_at(f"sqlite+aiosqlite:///{Path(folder) / 'scheduler.db'}", measured, count))
    if only != "sqlite":
        server = PostgresServer(durable=True)
        server.start()
        try:
            asyncio.run(measure_at(server.create_database(), measured, count))
        finally:
            server.stop()


def main() -> None:
    """Measures on each kind of database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    options = parser.parse_args()
    measure_on_each(measure, options.attempts, options.only)


if __name__ == "__main__":
    main()
