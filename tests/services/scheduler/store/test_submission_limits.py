"""The contract of the hourly limit, on each kind of database: counted from rows, exact, and never exceeded."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from servicekit.db.database import Database, migrate
from services.scheduler.jobs.allowance import WINDOW, SubmissionLimits
from services.scheduler.jobs.job import Job
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.job_writes import Submitted
from tests.services.scheduler.jobs import ACCEPTED, START, a_job

ACCOUNT = "account-1"
MICROSECOND = timedelta(microseconds=1)
MANY = 1000
numbers = count(1)


def limits(per_hour: int) -> SubmissionLimits:
    return SubmissionLimits(MANY, per_hour)


def submission(after: timedelta = timedelta(0), account_id: str = ACCOUNT) -> Job:
    return a_job(next(numbers), age_seconds=-after.total_seconds(), account_id=account_id)


async def submit(store: JobStore, per_hour: int, after: timedelta = timedelta(0)) -> Submitted:
    return await store.insert(submission(after), limits(per_hour))


async def test_the_next_submission_is_possible_exactly_when_the_refusal_says(store: JobStore) -> None:
    for minutes in (0, 10, 20):
        assert (await submit(store, 3, timedelta(minutes=minutes))).job
    refused = await submit(store, 3, timedelta(minutes=25))
    assert (refused.job, refused.allowance.is_hour_used_up) == (None, True)
    assert refused.allowance.renew_after == timedelta(minutes=35)
    assert (await submit(store, 3, timedelta(hours=1) - MICROSECOND)).job is None
    accepted = await submit(store, 3, timedelta(hours=1))
    assert accepted.job
    assert accepted.allowance.remaining == 0
    assert accepted.allowance.renew_after == timedelta(minutes=10)


async def test_jobs_that_are_over_still_count_within_the_hour(store: JobStore) -> None:
    job = (await submit(store, 1)).job
    assert job
    job = await store.move(job, job.enqueue("hold-1"), [b"queued"], START)
    job = await store.move(job, job.settle(ACCEPTED), [], START)
    await store.move(job, job.finish(0, START), [b"ended"], START)
    use = (await submit(store, 1)).allowance
    assert (use.jobs_in_flight, use.submissions, use.remaining) == (0, 1, 0)


async def test_repeated_keys_never_count(store: JobStore) -> None:
    first = submission()
    for _ in range(5):
        again = await store.insert(first, limits(1))
        assert again.job
        assert again.job.job_id == first.job_id
        assert again.allowance.submissions == 1


async def test_a_submission_that_credit_refused_does_not_count(store: JobStore) -> None:
    job = (await submit(store, 1)).job
    assert job
    await store.delete(job)
    assert (await submit(store, 1)).job


async def test_accounts_do_not_share_a_limit(store: JobStore) -> None:
    assert (await submit(store, 1)).job
    assert (await store.insert(submission(account_id="account-2"), limits(1))).job


async def test_0_is_no_limit(store: JobStore) -> None:
    use = [(await submit(store, 0)).allowance for _ in range(5)]
    assert [allowance.remaining for allowance in use] == [MANY - number for number in range(1, 6)]


async def test_a_restart_forgets_nothing(database_url: str, database: Database, store: JobStore) -> None:
    assert (await submit(store, 1)).job
    reopened = Database(database_url)
    try:
        successor = JobStore(reopened, lambda events: None)
        refused = await submit(successor, 1, timedelta(minutes=59))
        assert (refused.job, refused.allowance.renew_after) == (None, timedelta(minutes=1))
        assert await successor.allowance(ACCOUNT, limits(1), START + timedelta(minutes=59)) == refused.allowance
    finally:
        await reopened.close()


async def test_a_limit_that_was_lowered_lets_the_next_in_when_enough_have_left(store: JobStore) -> None:
    for minutes in range(5):
        await submit(store, 5, timedelta(minutes=minutes))
    refused = await submit(store, 2, timedelta(minutes=30))
    assert (refused.job, refused.allowance.submissions) == (None, 5)
    # The fourth of five must leave, so that one is left.
    assert refused.allowance.renew_after == timedelta(minutes=33)
    assert (await submit(store, 2, timedelta(minutes=63) - MICROSECOND)).job is None
    assert (await submit(store, 2, timedelta(minutes=63))).job


async def test_an_account_without_jobs_has_its_whole_allowance(store: JobStore) -> None:
    use = await store.allowance("nobody", SubmissionLimits(4, 7), START)
    assert (use.remaining, use.submissions, use.renew_after) == (4, 0, None)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    rounds=st.lists(
        st.tuples(
            st.timedeltas(timedelta(0), timedelta(minutes=40)),
            st.lists(st.timedeltas(timedelta(0), timedelta(minutes=20)), min_size=1, max_size=6),
        ),
        min_size=1,
        max_size=6,
    ),
    most=st.integers(1, 4),
)
async def test_no_hour_has_more_submissions_than_the_limit_even_if_they_come_at_once(
    store: JobStore, rounds: list[tuple[timedelta, list[timedelta]]], most: int
) -> None:
    """Each round submits at once. A submission may reach the database some time after its time of creation."""
    account_id = f"account-of-{next(numbers)}"
    now = timedelta(0)
    accepted: list[Job] = []
    for pause, delays in rounds:
        now += pause
        drafts = [submission(now - delay, account_id) for delay in delays]
        inserted = await asyncio.gather(*[store.insert(draft, limits(most)) for draft in drafts])
        accepted += [job for job, _ in inserted if job]
    assert accepted
    times = sorted(job.create_time for job in accepted)
    for first in times:
        assert sum(first <= time < first + WINDOW for time in times) <= most


async def test_the_count_reads_an_index_alone(tmp_path: Path) -> None:
    # On SQLite: PostgreSQL reads a small table whole, whatever its indexes.
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'plan.db'}")
    await migrate(database, MIGRATIONS)
    executed: list[tuple[str, Any]] = []
    event.listen(
        database.engine.sync_engine, "before_cursor_execute", lambda *call: executed.append((call[2], call[3]))
    )
    await submit(JobStore(database, lambda events: None), 1)
    [(count_statement, bound)] = [(said, bound) for said, bound in executed if "count(*)" in said]
    async with database.reading() as connection:
        plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {count_statement}", bound)).all()
    await database.close()
    said = [str(row[-1]) for row in plan if "create_time" in str(row[-1])]
    assert said == ["SEARCH jobs USING COVERING INDEX jobs_account_age (account_id=? AND create_time>?)"]
