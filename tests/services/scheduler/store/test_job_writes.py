"""Writes that share a transaction: their rows, events and answers are those of the same writes one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, select, update
from sqlalchemy.event import listen
from sqlalchemy.exc import IntegrityError
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_FULL

from servicekit.db.database import Database, migrate
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.errors import IllegalMoveError, QueueFullError, StaleJobError
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.server import MIGRATIONS
from services.scheduler.store import tables
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import ACCEPTED, LEASE, START, a_job
from tests.services.scheduler.timed_jobs import timed_job

JOBS = 7
TABLES = (
    *(tables.jobs, tables.job_texts, tables.job_events, tables.proven_times, tables.attempts),
    *(tables.problem_attempts, tables.problem_solvers, tables.submission_days),
)
LIMIT = SubmissionLimits(100)
TIMED = replace(ACCEPTED, result=timed_job().result)

MOVES: dict[str, Callable[[Job], Job]] = {
    "enqueue": lambda job: job.enqueue("hold-1"),
    "abandon": lambda job: job.abandon(),
    "provision": lambda job: job.provision(),
    "requeue": lambda job: job.requeue(),
    "start": lambda job: job.start(LEASE, START),
    "progress": lambda job: job.progress(job.run_seq + 1, 5),
    "cancel": lambda job: job.request_cancel(START),
    "retry": lambda job: job.retry(),
    "settle": lambda job: job.settle(TIMED),
    "finish": lambda job: job.finish(500, START),
    "report": lambda job: job,
    # The database refuses a cost above the hold.
    "overcharge": lambda job: replace(job, cost_micros=job.hold_micros + 1),
}


@dataclass(frozen=True)
class Step:
    """A write of a job; `behind` is how many versions of the job its caller has missed."""

    kind: str
    number: int
    events: int
    behind: int
    limits: SubmissionLimits
    most_of_user: int


def a_draft(number: int, **fields: Any) -> Job:
    """One of several jobs of two accounts and two users, which use the same keys; some are ranked."""
    mode = RUN_MODE_FULL if number % 2 else RUN_MODE_CHECK
    job = a_job(number, mode=mode, user_id=f"user-{number // 2 % 2}", **fields)
    return replace(job, account_id=f"account-{number % 2}", idempotency_key=f"key-{number % 3}")


@dataclass
class Caller:
    """Makes the calls of a program on one store, as callers would who know only what they have seen.

    `minutes` says when each job was created.
    """

    store: JobStore
    minutes: Sequence[int]
    announced: list[JobEvent] = field(default_factory=list[JobEvent])

    def call(self, step: Step, seen: dict[int, list[Job]]) -> Callable[[], Awaitable[Any]] | None:
        if step.kind == "insert":
            seen.setdefault(step.number, []).append(self._draft(step.number))
            draft = self._draft(step.number, source="source")
            return lambda: self.store.insert(draft, step.limits, step.most_of_user)
        versions = seen.get(step.number, [self._draft(step.number)])
        before = versions[max(0, len(versions) - 1 - step.behind)]
        if step.kind == "delete":
            return lambda: self.store.delete(before)
        try:
            after = MOVES[step.kind](before)
        except IllegalMoveError:
            return None
        seen.setdefault(step.number, []).append(before if step.kind == "overcharge" else after)
        payloads = [f"{step.kind} {number}".encode() for number in range(step.events)]
        return lambda: self.store.move(before, after, payloads, START)

    def _draft(self, number: int, **fields: Any) -> Job:
        return a_draft(number, age_seconds=-60 * self.minutes[number - 1], **fields)


def an_order(kinds: Sequence[str]) -> st.SearchStrategy[list[Step]]:
    """Mostly a life of several jobs in a possible order, with writes between them that come too late."""
    step = st.builds(
        Step,
        kind=st.sampled_from([*kinds]),
        number=st.integers(1, JOBS),
        events=st.integers(0, 2),
        behind=st.sampled_from([0, 0, 0, 0, 1, 2]),
        limits=st.builds(SubmissionLimits, st.sampled_from([1, 2, 9]), st.sampled_from([0, 0, 1, 2, 3])),
        most_of_user=st.sampled_from([0, 0, 1, 2]),
    )
    return st.lists(step, min_size=1, max_size=40)


USUAL = [
    *2 * ["insert", "enqueue", "start"],
    "progress",
    "settle",
    "finish",
    "cancel",
    "report",
    "overcharge",
    "abandon",
]
PROGRAMS = st.one_of(
    an_order(["insert", "delete", *MOVES]),
    # Weighted towards the usual life, which random moves seldom get far in.
    an_order(USUAL),
    # Weighted towards what counts in the limits of accounts and users.
    an_order([*5 * ["insert"], *2 * ["delete"], "enqueue", "abandon"]),
)
# Some were created after others had left the hour that counts.
MINUTES = st.lists(st.sampled_from([0, 0, 1, 30, 60, 61, 90]), min_size=JOBS, max_size=JOBS)


async def answer(call: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await call()
    except (StaleJobError, QueueFullError, IntegrityError) as error:
        return type(error).__name__


async def rows(database: Database) -> list[list[tuple[Any, ...]]]:
    async with database.reading() as connection:
        return [sorted(map(tuple, await connection.execute(select(table))), key=repr) for table in TABLES]


async def emptied(database: Database, minutes: Sequence[int]) -> Caller:
    async with database.transaction() as connection:
        for table in (tables.jobs, tables.proven_times, tables.attempts):
            await connection.execute(delete(table))
        await connection.execute(update(tables.job_revision).values(revision=0))
    announced: list[JobEvent] = []
    return Caller(JobStore(database, announced.extend), minutes, announced)


async def check(database: Database, program: Sequence[Step], sizes: Sequence[int], minutes: Sequence[int]) -> None:
    alone, seen = await emptied(database, minutes), dict[int, list[Job]]()
    calls = [call for step in program if (call := alone.call(step, seen))]
    expected: list[Any] = []
    for call in calls:
        expected.append(await answer(call))
        if isinstance(expected[-1], Job):
            assert await alone.store.get(expected[-1].job_id) == expected[-1]
    expected_rows = await rows(database)

    grouped, seen = await emptied(database, minutes), dict[int, list[Job]]()
    calls = [call for step in program if (call := grouped.call(step, seen))]
    answers: list[Any] = []
    while calls:
        size = sizes[len(answers) % len(sizes)]
        # All of them wait before the first transaction begins.
        answers += await asyncio.gather(*map(answer, calls[:size]))
        calls = calls[size:]
    assert answers == expected
    assert await rows(database) == expected_rows
    for one in {event.job_id for event in alone.announced} | {event.job_id for event in grouped.announced}:
        assert of_job(grouped.announced, one) == of_job(alone.announced, one)


def of_job(events: Sequence[JobEvent], job_id: str) -> list[JobEvent]:
    return [event for event in events if event.job_id == job_id]


@pytest.mark.timeout(300)
def test_any_groups_of_any_writes_leave_the_rows_events_and_answers_of_one_at_a_time(database_url: str) -> None:
    with asyncio.Runner() as runner:
        database = Database(database_url)
        runner.run(migrate(database, MIGRATIONS))

        @settings(max_examples=100, deadline=None, suppress_health_check=[*HealthCheck])
        @given(PROGRAMS, st.lists(st.integers(1, 12), min_size=1, max_size=6), MINUTES)
        def examples(program: list[Step], sizes: list[int], minutes: list[int]) -> None:
            runner.run(check(database, program, sizes, minutes))

        try:
            examples()
        finally:
            runner.run(database.close())


def an_insertion(number: int, *, per_hour: int = 0, most_of_user: int = 0) -> Step:
    return Step("insert", number, 0, 0, SubmissionLimits(100, per_hour), most_of_user)


def a_write(kind: str, number: int) -> Step:
    return Step(kind, number, 0, 0, LIMIT, 0)


@pytest.mark.parametrize(
    ("program", "minutes"),
    [
        pytest.param([an_insertion(1), an_insertion(3), an_insertion(5, per_hour=1)], [0, 0, 1, 0, 2], id="lowered"),
        pytest.param([an_insertion(1), an_insertion(3), an_insertion(5)], [0, 0, 30, 0, 61], id="leaves the hour"),
        pytest.param([an_insertion(5), an_insertion(3), an_insertion(1)], [0, 0, 30, 0, 61], id="comes late"),
        pytest.param(
            [an_insertion(1), an_insertion(3), a_write("delete", 1), an_insertion(5, per_hour=2)],
            [0, 0, 1, 0, 2],
            id="deleted",
        ),
        pytest.param([an_insertion(1), an_insertion(4, most_of_user=1)], [0] * 5, id="the user's jobs"),
        pytest.param(
            [an_insertion(1), a_write("abandon", 1), an_insertion(4, most_of_user=1)], [0] * 5, id="over again"
        ),
        pytest.param([an_insertion(1, per_hour=1), an_insertion(7, per_hour=1)], [0] * 7, id="the same key"),
    ],
)
async def test_an_insertion_counts_what_its_group_wrote_before(
    database: Database, program: list[Step], minutes: list[int]
) -> None:
    await check(database, program, [1, 9], minutes)
    await check(database, program, [9], minutes)


async def queued(store: JobStore, number: int) -> Job:
    job = (await store.insert(a_job(number), LIMIT)).job
    assert job is not None
    return await store.move(job, job.enqueue("hold-1"), [b"queued"], START)


async def test_simultaneous_moves_of_many_jobs_share_their_transactions(database: Database, store: JobStore) -> None:
    jobs = [await queued(store, number) for number in range(40)]
    commits: list[object] = []
    listen(database.engine.sync_engine, "commit", commits.append)
    await asyncio.gather(*(store.move(job, job.start(LEASE, START), [b"started"], START) for job in jobs))
    assert len(commits) == 1


async def test_move_that_the_database_refuses_fails_alone(store: JobStore) -> None:
    jobs = [await queued(store, number) for number in range(5)]
    moves = [job.start(LEASE, START) for job in jobs]
    moves[2] = replace(moves[2], cost_micros=moves[2].hold_micros + 1)
    answers = await asyncio.gather(
        *(store.move(before, after, [b"started"], START) for before, after in zip(jobs, moves, strict=True)),
        return_exceptions=True,
    )
    assert [isinstance(answer, IntegrityError) for answer in answers] == [number == 2 for number in range(5)]
    assert await store.get(jobs[2].job_id) == jobs[2]
    assert await store.get(jobs[3].job_id) == answers[3]


async def test_move_whose_caller_is_cancelled_first_does_not_happen(store: JobStore) -> None:
    jobs = [await queued(store, number) for number in range(2)]
    moves = [asyncio.ensure_future(store.move(job, job.provision(), [], START)) for job in jobs]
    await asyncio.sleep(0)
    moves[1].cancel()
    await asyncio.gather(*moves, return_exceptions=True)
    assert [await store.get(job.job_id) for job in jobs] == [jobs[0].provision(), jobs[1]]
