"""Measures what a leader's writes cost: the check of the epoch, and the notification of events.

`python -m benchmarks.write_fence URL [URL ...]` moves a job's last sequence number with one event in each transaction,
on each empty database, by one writer and by several. The table has microseconds a transaction without the check, with
it, and with the notification too: the medians of rounds that take turns.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from datetime import timedelta
from itertools import count

from sqlalchemy import text

from servicekit.db.database import Database, migrate
from servicekit.db.leader_lease import LeaderLease

MIGRATIONS = "services.scheduler:migrations"
ROUNDS, TRANSACTIONS = 15, 200
SETUPS = {
    "no check, no notification": (False, False),
    "check": (True, False),
    "check and notification": (True, True),
}
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


class Writer:
    """Writes events of one job."""

    def __init__(self, database: Database, job_id: str) -> None:
        self._database = database
        self._job_id = job_id
        self._seqs = count(1)

    async def write(self, transactions: int) -> None:
        """Makes this many transactions, one after another."""
        for seq in (next(self._seqs) for _ in range(transactions)):
            async with self._database.transaction() as connection:
                await connection.execute(_MOVE, {"job_id": self._job_id, "seq": seq})
                await connection.execute(_INSERT, {"job_id": self._job_id, "seq": seq, "payload": b"x" * 100})


async def measure(url: str, writers: int) -> dict[str, float]:
    """Microseconds a transaction for each setup."""
    database = Database(url)
    is_postgres = database.dialect_name == "postgresql"
    await migrate(database, MIGRATIONS)
    lease = LeaderLease(database, "scheduler", timedelta(hours=1))
    await lease.take(timedelta(seconds=60))
    jobs = [f"job-{writers}-{number}" for number in range(writers)]
    async with database.transaction() as connection:
        for job_id in jobs:
            await connection.execute(_JOB, {"job_id": job_id, "blob": b""})
    team = [Writer(database, job_id) for job_id in jobs]
    times: dict[str, list[float]] = {name: [] for name in SETUPS}
    for _ in range(ROUNDS):
        for name, (has_check, notifies) in SETUPS.items():
            if notifies and not is_postgres:
                continue
            if is_postgres:
                state = "ENABLE" if notifies else "DISABLE"
                async with database.unfenced() as connection:
                    await connection.execute(text(f"ALTER TABLE jobs {state} TRIGGER jobs_tell_of_events"))
            database.fence = lease.check if has_check else None
            began = time.perf_counter()
            await asyncio.gather(*[writer.write(TRANSACTIONS // writers) for writer in team])
            times[name].append((time.perf_counter() - began) / (TRANSACTIONS // writers * writers) * 1e6)
    await lease.release()
    await database.close()
    return {name: statistics.median(taken) for name, taken in times.items() if taken}


async def main(urls: list[str]) -> None:
    """Prints the table."""
    for url in urls:
        for writers in (1, 8):
            for name, micros in (await measure(url, writers)).items():
                print(f"{url.partition(':')[0]:20} {writers} writers  {name:28} {micros:8.0f} us")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
