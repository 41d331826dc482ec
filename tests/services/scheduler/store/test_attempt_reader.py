"""The contract of job metrics, on each kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1.run_event_pb2 import Finished

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.job_figures import Grouping, Spread
from services.scheduler.jobs.queue_state import EndCounts
from services.scheduler.jobs.states import JobState
from services.scheduler.monitoring.pruner import AttemptPruner
from services.scheduler.store.attempt_reader import AttemptReader
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import LEASE, START, a_job
from tests.services.scheduler.test_job import CANCELLED, FAILED

DAY = timedelta(days=1)


@pytest.fixture
def attempts(database: Database) -> AttemptReader:
    return AttemptReader(database)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def verdict(name: str = "ACCEPTED", billable_seconds: int = 4) -> Outcome:
    result = Finished(billable=Duration(seconds=billable_seconds)).SerializeToString()
    return Outcome(JobState.FINISHED, name, "", result, 0)


async def run(
    store: JobStore,
    number: int,
    outcome: Outcome,
    *,
    wait: float = 1,
    took: float = 8,
    lost: int = 0,
    machine_id: str = "machine-1",
    gpu_type: str = "",
    **changes: Any,
) -> Job:
    """A job that waited and ran for these seconds, after `lost` attempts of a second each."""
    job = (await store.insert(a_job(number, **changes), SubmissionLimits(1000))).job
    assert job is not None
    job = await store.move(job, job.enqueue("hold-1"), [], START)
    lease, clock = replace(LEASE, machine_id=machine_id), wait
    for _ in range(lost):
        job = await store.move(job, job.start(lease, at(clock), gpu_type), [], at(clock))
        clock += 1
        job = await store.move(job, job.retry(), [], at(clock))
    job = await store.move(job, job.start(lease, at(clock), gpu_type), [], at(clock))
    job = await store.move(job, job.settle(outcome), [], at(clock))
    return await store.move(job, job.finish(0, at(clock + took)), [b"ended"], at(clock + took))


async def test_figures_add_up_what_ended_and_how(store: JobStore, attempts: AttemptReader) -> None:
    for number in range(10):
        await run(store, number, verdict(), wait=number + 1)
    await run(store, 10, verdict("WRONG_ANSWER"), lost=2)
    await run(store, 11, FAILED)
    await run(store, 12, CANCELLED)
    [everything] = await attempts.figures(Grouping.ALL, [], START, START + DAY)
    assert (everything.jobs, everything.succeeded, everything.accepted) == (13, 11, 10)
    assert (everything.failed, everything.cancelled, everything.lost_attempts) == (1, 1, 3)
    # Waits: 1 to 10 s, and 1 s of each of the last three, whose later attempts do not count.
    assert everything.wait == Spread(4, 9)
    # Runs: 13 of 8 s, and two of 1 s.
    assert everything.run == Spread(8, 8)
    assert (everything.useful_gpu_seconds, everything.paid_gpu_seconds) == (11 * 4, 13 * 8 + 2)
    assert everything.efficiency == pytest.approx(44 / 106)


@pytest.mark.parametrize(
    ("grouping", "changes", "groups"),
    [
        (Grouping.USER, {"user_id": "bob"}, ["bob", "ada"]),
        (Grouping.PROBLEM, {"problem": "gelu"}, ["gelu", "leaky-relu"]),
        (Grouping.MACHINE, {"machine_id": "machine-2"}, ["machine-2", "machine-1"]),
        (Grouping.GPU_TYPE, {"gpu_type": "MI210"}, ["MI210", "MI300X"]),
        (Grouping.QUEUE, {}, ["default"]),
    ],
)
async def test_jobs_are_put_together_by_what_was_asked_for_the_costliest_first(
    store: JobStore, attempts: AttemptReader, grouping: Grouping, changes: dict[str, str], groups: list[str]
) -> None:
    await run(store, 1, verdict(), user_id="ada")
    await run(store, 2, verdict(), took=9, **({"user_id": "ada"} | changes))
    found = await attempts.figures(grouping, [], START, START + DAY)
    assert [one.group for one in found] == groups


async def test_only_the_period_and_the_accounts_that_were_asked_for_count(
    store: JobStore, attempts: AttemptReader
) -> None:
    await run(store, 1, verdict(), took=10, account_id="account-1")
    await run(store, 2, verdict(), took=20, account_id="account-2")
    for accounts, since, until, jobs in (
        (["account-1"], 0, 99, 1),
        (["account-1", "account-2"], 0, 99, 2),
        ([], 0, 99, 2),
        ([], 12, 99, 1),
        ([], 11, 21, 1),
        ([], 11, 22, 2),
        (["account-3"], 0, 99, 0),
        ([], 50, 99, 0),
    ):
        found = await attempts.figures(Grouping.ALL, accounts, at(since), at(until))
        assert sum(one.jobs for one in found) == jobs, (accounts, since, until)


async def test_a_move_that_is_refused_leaves_no_figures(store: JobStore, attempts: AttemptReader) -> None:
    job = (await store.insert(a_job(1), SubmissionLimits(10))).job
    assert job is not None
    queued = await store.move(job, job.enqueue("hold-1"), [], START)
    running = await store.move(queued, queued.start(LEASE, START), [], START)
    await store.move(running, running.retry(), [], at(1))
    with pytest.raises(StaleJobError):
        await store.move(running, running.retry(), [], at(2))
    [found] = await attempts.figures(Grouping.ALL, [], START, START + DAY)
    assert (found.jobs, found.lost_attempts, found.paid_gpu_seconds) == (0, 1, 1.0)


async def test_what_ended_lately_is_counted_by_queue_and_gpu_type(store: JobStore, attempts: AttemptReader) -> None:
    await run(store, 1, verdict(), took=5)
    await run(store, 2, FAILED, took=20, lost=1)
    await run(store, 3, verdict(), took=20, gpu_type="MI210")
    found = await attempts.end_counts(at(10))
    assert sorted(found, key=lambda one: one.place) == [
        EndCounts(("default", "MI210"), 1, 0, 0),
        EndCounts(("default", "MI300X"), 1, 1, 1),
    ]


async def test_runs_are_split_into_recent_and_earlier_ones_of_each_problem(
    store: JobStore, attempts: AttemptReader
) -> None:
    await run(store, 1, verdict(), took=5)
    await run(store, 2, verdict(), took=30)
    await run(store, 3, verdict("WRONG_ANSWER"), took=30)
    [found] = await attempts.runs_by_problem(START, at(20))
    assert (found.gpu_type, found.recent, found.earlier) == ("MI300X", [30.0], [5.0])


async def test_the_pruner_forgets_what_is_older_than_it_keeps(store: JobStore, attempts: AttemptReader) -> None:
    await run(store, 1, verdict(), took=5)
    await run(store, 2, verdict(), took=50)
    await AttemptPruner(attempts, timedelta(seconds=60), ManualClock(at(90))).run_once()
    [left] = await attempts.figures(Grouping.ALL, [], START, START + DAY)
    assert left.jobs == 1


async def test_old_attempts_are_forgotten_in_batches_and_their_jobs_stay(store: JobStore, database: Database) -> None:
    attempts = AttemptReader(database, forget_batch=2)
    for number in range(5):
        await run(store, number, verdict(), took=10 * (number + 1))
    assert await attempts.forget(at(45)) == 4
    [left] = await attempts.figures(Grouping.ALL, [], START, START + DAY)
    assert (left.jobs, await store.get("job-000") is None) == (1, False)
