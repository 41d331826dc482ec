"""Measures how long the status of all problems takes for one user, on both kinds of database.

Every job is a full run of one of 500 problems by one of 300 users, with a proven time; one in three is in another
element type. "all element types" has the tries of every type, "float32" those of one, both with the record and the
user's best time of each problem; "answer" is the body of `GET /problems`, made of that.

Run: `python -m benchmarks.problem_status [--jobs 100000] [--only postgresql]`.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, Table, insert, text
from wavepool.scheduler.v1 import rankings_pb2, scheduler_pb2

from benchmarks.job_metrics import measure_on_each, show
from gateway.routes.catalogue import problem_list_of
from servicekit.db.database import Database, migrate
from services.scheduler.jobs.listing import JobFilter
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.server import MIGRATIONS
from services.scheduler.service.ranking_service import progress_to_proto
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.ranking_reader import RankingReader
from services.scheduler.store.rows import job_to_row
from services.scheduler.store.tables import jobs, proven_times
from tests.services.scheduler.timed_jobs import timed_job

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROBLEMS, USERS, BATCH = 500, 300, 1000
KEY = RankingKey("", "MI300X", "float32", "cold")


async def write(database: Database, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Writes rows."""
    for first in range(0, len(rows), BATCH):
        async with database.transaction() as connection:
            await connection.execute(insert(table), rows[first : first + BATCH])


def rows(count: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of ended jobs, and of their times."""
    chance = random.Random(1)  # noqa: S311 - no secret
    dtypes = ("float32", "float32", "float16")
    templates = {dtype: job_to_row(timed_job(dtype=dtype)) for dtype in dtypes}
    kind = {"hardware": "MI300X", "timing_mode": "cold", "interval": 0.01, "gflops": 1.0}
    ended: list[dict[str, Any]] = []
    times: list[dict[str, Any]] = []
    for number in range(count):
        dtype, end = chance.choice(dtypes), NOW + timedelta(seconds=number)
        own = {
            "job_id": f"job_{chance.getrandbits(128):032x}",
            "user_id": f"user_{chance.randrange(USERS)}",
            "problem": f"problem-{chance.randrange(PROBLEMS)}",
            "end_time": end,
        }
        ended.append(templates[dtype] | own | {"idempotency_key": own["job_id"], "create_time": end})
        times.append(own | kind | {"dtype": dtype, "runtime_ns": 1e6 * chance.random()})
    return ended, times


async def fill(database: Database, count: int) -> None:
    """Makes the tables and writes so many jobs; what their ends add is counted as the migration counts it."""
    await migrate(database, MIGRATIONS)
    ended, times = rows(count)
    await write(database, jobs, ended)
    await write(database, proven_times, times)
    async with database.transaction() as connection:
        start = time.perf_counter()
        await connection.run_sync(count_ended)
        print(f"  the migration counts what has ended in {time.perf_counter() - start:.1f} s")


def count_ended(connection: Connection) -> None:
    """Fills the counts from the jobs."""
    with Operations.context(MigrationContext.configure(connection)):
        import_module("services.scheduler.migrations.versions.0030_user_progress").count_ended()


async def measure(database: Database, count: int) -> None:
    """Fills the database and measures."""
    await fill(database, count)
    if database.dialect_name == "postgresql":
        async with database.engine.connect() as connection:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            await connection.execute(text("VACUUM ANALYZE"))
    reader = RankingReader(database)
    print(f"{database.dialect_name}, {count:,} jobs, {PROBLEMS} problems, {USERS} users")
    await show("all element types", lambda: reader.progress("user_1", KEY, ""))
    mine = JobFilter(("account-1",))
    await show("number of submissions", lambda: JobReader(database).count(mine, count))
    await show("the same, up to 1,001", lambda: JobReader(database).count(mine, 1001))
    await show("float32", lambda: reader.progress("user_1", KEY, "float32"))
    found = await reader.progress("user_1", KEY, "")
    catalogue = scheduler_pb2.ListProblemsResponse(
        problems=[
            scheduler_pb2.ProblemSummary(slug=slug, title=slug, difficulty="EASY", tags=["a"], dtypes=["float32"])
            for slug in found
        ]
    )

    async def answer() -> object:
        problems = [progress_to_proto(slug, one) for slug, one in found.items()]
        progress = rankings_pb2.ListProgressResponse(problems=problems)
        return problem_list_of(catalogue, progress).model_dump_json()

    await show("answer", answer)


def main() -> None:
    """Measures on each kind of database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    options = parser.parse_args()
    measure_on_each(measure, options.jobs, options.only)


if __name__ == "__main__":
    main()
