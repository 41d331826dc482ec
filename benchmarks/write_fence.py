"""Measures what a leader's writes cost: the check of the epoch, and the notification of events.

`python -m benchmarks.write_fence URL [URL ...]` writes an event of a job in each transaction, on each empty database
(of a superuser), in turns without the check, with it, and with the notification too. The table has microseconds: of the
check alone, which on PostgreSQL begins the transaction too, and of whole transactions, whose commit waits for a disk.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections import defaultdict
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING

from sqlalchemy import text

from servicekit.db.database import Database, migrate
from servicekit.db.leader_lease import LeaderLease

if TYPE_CHECKING:
    from collections.abc import Mapping

MIGRATIONS = "services.scheduler:migrations"
ROUNDS = 400
_NO_TRIGGERS = text("SET LOCAL session_replication_role = replica")
_INSERT = text(
    "INSERT INTO job_events (job_id, seq, time, attempt, cost_micros, last, payload) "
    "VALUES (:job_id, :seq, 0, 1, 0, false, :payload)"
)
_MOVE = text("UPDATE jobs SET last_seq = :seq WHERE job_id = :job_id")
_JOB = text(
    "INSERT INTO jobs (job_id, account_id, fingerprint, submission, problem, gpu_type, priority, state, create_time, "
    "price_micros_per_hour, hold_micros, request_id, hold_id, attempt, machine_id, run_seq, last_seq, cost_micros, "
    "verdict, message, result) VALUES (:job_id, 'a', '', :blob, '', '', 0, 'queued', 0, 0, 0, '', 'h', 1, '', 0, 0, 0, "
    "'', '', :blob)"
)


class Bench:
    """Writes events of one job, and keeps the times that the parts took, in microseconds."""

    def __init__(self, database: Database, lease: LeaderLease) -> None:
        self._database = database
        self._lease = lease
        self._is_postgres = database.dialect_name == "postgresql"
        self._seqs = count(1)
        self.times: defaultdict[str, list[float]] = defaultdict(list)

    async def prepare(self) -> None:
        """Adds the job."""
        async with self._database.transaction() as connection:
            await connection.execute(_JOB, {"job_id": "job", "blob": b""})

    async def write(self, name: str, *, has_check: bool, notifies: bool) -> None:
        """Makes one transaction."""
        row = {"job_id": "job", "seq": next(self._seqs)}
        began = time.perf_counter()
        async with self._database.unfenced() as connection:
            if has_check:
                before = time.perf_counter()
                await self._lease.check(connection)
                self.times[f"{name}: the check alone"].append((time.perf_counter() - before) * 1e6)
            if self._is_postgres and not notifies:
                paused = time.perf_counter()
                await connection.execute(_NO_TRIGGERS)
                began += time.perf_counter() - paused
            await connection.execute(_MOVE, row)
            await connection.execute(_INSERT, row | {"payload": b"x" * 100})
        self.times[name].append((time.perf_counter() - began) * 1e6)


async def measure(url: str) -> Mapping[str, list[float]]:
    """The times of one database."""
    database = Database(url)
    await migrate(database, MIGRATIONS)
    lease = LeaderLease(database, "scheduler", timedelta(hours=1))
    async with lease.held(timedelta(seconds=60)):
        bench = Bench(database, lease)
        await bench.prepare()
        for _ in range(ROUNDS):
            await bench.write("neither", has_check=False, notifies=False)
            await bench.write("check", has_check=True, notifies=False)
            if database.dialect_name == "postgresql":
                await bench.write("check and notification", has_check=True, notifies=True)
    await database.close()
    return bench.times


async def main(urls: list[str]) -> None:
    """Prints the table."""
    for url in urls:
        for name, times in (await measure(url)).items():
            tenth = statistics.quantiles(times, n=10)[0]
            print(f"{url.partition(':')[0]:20} {name:40} p10 {tenth:7.0f}  p50 {statistics.median(times):7.0f} us")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
