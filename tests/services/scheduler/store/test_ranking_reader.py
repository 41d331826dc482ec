"""The contract of rankings, on each kind of database."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from importlib import import_module
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, delete, select, update
from wavepool.executor.v1.run_event_pb2 import TIMING_UNPROVEN
from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, RUN_MODE_SAMPLE

from servicekit.db.database import Database
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.states import JobState
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.ranking_reader import Progress, RankingReader
from services.scheduler.store.tables import problem_attempts, problem_solvers, proven_times, submission_days
from submissions.visibility import Visibility
from tests.services.scheduler.jobs import START, a_job
from tests.services.scheduler.timed_jobs import case, ended

KEY = RankingKey("leaky-relu", "MI300X", "float32", "cold")


@pytest.fixture
def rankings(database: Database) -> RankingReader:
    return RankingReader(database)


async def test_each_user_is_ranked_by_the_best_time_of_theirs(store: JobStore, rankings: RankingReader) -> None:
    times = [("ada", 30.0), ("bob", 20.0), ("ada", 10.0), ("eve", 20.0), ("dan", 40.0), ("bob", 25.0)]
    for number, (user_id, runtime_ns) in enumerate(times):
        await ended(store, number, user_id=user_id, mean_runtime_ns=runtime_ns, minutes=number)
    found = await rankings.ranking(KEY, 3, "dan")
    shown = [(one.rank, one.user_id, one.job_id, one.runtime_ns, one.times) for one in found.best]
    # Equal times have one rank, and the earlier one stands first.
    assert shown == [
        (1, "ada", "job-002", 10.0, 2),
        (2, "bob", "job-001", 20.0, 2),
        (2, "eve", "job-003", 20.0, 1),
    ]
    assert found.own is not None
    assert (found.own.rank, found.own.runtime_ns, found.users) == (4, 40.0, 4)
    assert (await rankings.ranking(KEY, 3, "nobody")).own is None


async def test_times_of_rankings_and_records_have_their_intervals(store: JobStore, rankings: RankingReader) -> None:
    cases = [case("a", 10.0, spread=0.1), case("b", 20.0, spread=0.3)]
    await ended(store, 1, user_id="ada", cases=cases, mean_runtime_ns=14.0)
    [best] = (await rankings.ranking(KEY, 3, "ada")).best
    records, own = await rankings.records(KEY, "ada")
    assert [one.interval for one in (best, *records, *own)] == [pytest.approx(0.2)] * 3


async def test_times_of_before_get_their_intervals_from_the_results(
    store: JobStore, rankings: RankingReader, database: Database
) -> None:
    await ended(store, 1, user_id="ada", cases=[case("a", 10.0, spread=0.1)])
    await ended(store, 2, user_id="bob")
    async with database.transaction() as connection:
        await connection.execute(update(proven_times).values(interval=7.0))
        await connection.run_sync(import_module("services.scheduler.migrations.versions.0033_intervals_of_times").fill)
    found = await rankings.ranking(KEY, 3)
    assert {one.user_id: one.interval for one in found.best} == {"ada": pytest.approx(0.1), "bob": 0}


async def test_a_ranking_tells_which_jobs_are_public(store: JobStore, rankings: RankingReader) -> None:
    for number, visibility in enumerate(Visibility):
        job = await ended(store, number, user_id=visibility, mean_runtime_ns=1.0 + number)
        await store.label(job, {"visibility": visibility})
    found = await rankings.ranking(KEY, 3, "public")
    assert [(one.user_id, one.is_public) for one in found.best] == [
        ("private", False),
        ("link", False),
        ("public", True),
    ]
    assert found.own
    assert found.own.is_public


async def test_of_equal_times_of_a_user_the_first_counts(store: JobStore, rankings: RankingReader) -> None:
    for number, minutes in enumerate((5, 3, 4)):
        await ended(store, number, mean_runtime_ns=1.0, minutes=minutes)
    [best] = (await rankings.ranking(KEY, 10)).best
    assert (best.job_id, best.times) == ("job-001", 3)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"problem": "relu"}, replace(KEY, problem="relu")),
        ({"machine_gpu_type": "MI210"}, replace(KEY, hardware="MI210")),
        ({"dtype": "float16"}, replace(KEY, dtype="float16")),
        ({"timing_mode": "first-call"}, replace(KEY, timing_mode="first-call")),
        ({"device": "cpu"}, replace(KEY, hardware="cpu")),
    ],
)
async def test_times_of_different_kinds_are_apart(
    store: JobStore, rankings: RankingReader, change: dict[str, Any], key: RankingKey
) -> None:
    await ended(store, 1)
    await ended(store, 2, mean_runtime_ns=0.5, **change)
    assert [one.job_id for one in (await rankings.ranking(KEY, 10)).best] == ["job-001"]
    assert [one.job_id for one in (await rankings.ranking(key, 10)).best] == ["job-002"]


async def test_a_record_is_a_time_that_is_faster_than_all_before_it(store: JobStore, rankings: RankingReader) -> None:
    times = [("ada", 30.0), ("bob", 40.0), ("bob", 20.0), ("ada", 20.0), ("bob", 25.0), ("ada", 10.0)]
    for number, (user_id, runtime_ns) in enumerate(times):
        await ended(store, number, user_id=user_id, mean_runtime_ns=runtime_ns, minutes=number)
    await ended(store, 9, problem="relu", mean_runtime_ns=1.0, minutes=9)
    records, own = await rankings.records(KEY, "bob")
    assert [(one.user_id, one.job_id, one.runtime_ns) for one in records] == [
        ("ada", "job-000", 30.0),
        ("bob", "job-002", 20.0),
        ("ada", "job-005", 10.0),
    ]
    assert [(one.job_id, one.runtime_ns) for one in own] == [("job-001", 40.0), ("job-002", 20.0)]
    assert records[1].end_time == START + timedelta(minutes=2)


async def test_of_many_records_the_last_ones_are_listed(
    store: JobStore, rankings: RankingReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.scheduler.store.ranking_reader.MOST_RECORDS", 2)
    for number in range(4):
        await ended(store, number, mean_runtime_ns=9.0 - number, minutes=number)
    records, _ = await rankings.records(KEY, "ada")
    assert [one.job_id for one in records] == ["job-002", "job-003"]


async def test_progress_is_of_each_problem_for_a_user_and_for_all(store: JobStore, rankings: RankingReader) -> None:
    await ended(store, 1, user_id="ada", mode=RUN_MODE_CHECK)
    await ended(store, 2, user_id="ada", verdict="WRONG_ANSWER")
    await ended(store, 3, user_id="ada", mean_runtime_ns=30.0)
    await ended(store, 4, user_id="bob", mean_runtime_ns=20.0)
    await ended(store, 5, user_id="bob", mean_runtime_ns=25.0)
    await ended(store, 6, user_id="ada", problem="relu", verdict="WRONG_ANSWER")
    await ended(store, 7, user_id="bob", problem="gelu", timing=TIMING_UNPROVEN)
    found = await rankings.progress("ada", KEY, "float32")
    assert found == {
        "gelu": Progress(0, False, 1, None, None),
        "leaky-relu": Progress(3, True, 2, (20.0, 0.0), (30.0, 0.0)),
        "relu": Progress(1, False, 0, None, None),
    }
    assert await rankings.solved("bob") == {"leaky-relu", "gelu"}


async def test_tries_of_all_element_types_count_unless_one_is_asked_for(
    store: JobStore, rankings: RankingReader
) -> None:
    await ended(store, 1, dtype="float16", mean_runtime_ns=1.0)
    await ended(store, 2, dtype="float32", verdict="WRONG_ANSWER")
    await ended(store, 3, dtype="bfloat16")
    assert await rankings.progress("ada", KEY, "") == {"leaky-relu": Progress(3, True, 1, None, None)}
    assert await rankings.progress("ada", KEY, "float32") == {"leaky-relu": Progress(1, False, 0, None, None)}
    half = replace(KEY, dtype="float16")
    assert await rankings.progress("ada", half, "float16") == {
        "leaky-relu": Progress(1, True, 1, (1.0, 0.0), (1.0, 0.0))
    }


@pytest.mark.parametrize(
    "change", [{"mode": RUN_MODE_SAMPLE}, {"user_id": ""}, {"has_definition": True}], ids=["sample", "nobody", "own"]
)
async def test_what_tries_no_problem_of_the_catalogue_is_no_attempt(
    store: JobStore, rankings: RankingReader, change: dict[str, Any]
) -> None:
    await ended(store, 1, timing=TIMING_UNPROVEN, **change)
    assert await rankings.progress("ada", KEY, "") == {}


async def test_days_with_submissions_are_those_of_utc(store: JobStore, rankings: RankingReader) -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-2)))
    for number, time in enumerate((START, START, late)):
        await ended(store, number, create_time=time, mode=RUN_MODE_SAMPLE)
    first, last = START.date().isoformat(), "2026-03-02"
    days = sorted([(first, 2), (last, 1)])
    assert await rankings.submission_days("ada", date(1970, 1, 1)) == days
    assert await rankings.submission_days("ada", date.fromisoformat(days[1][0])) == days[1:]
    assert await rankings.submission_days("bob", date(1970, 1, 1)) == []


async def test_the_migration_counts_what_ended_before_it(store: JobStore, database: Database) -> None:
    for number, change in enumerate(
        (
            {},
            {"verdict": "WRONG_ANSWER"},
            {"dtype": "float16"},
            {"mode": RUN_MODE_SAMPLE},
            {"user_id": "bob"},
            {"user_id": ""},
        )
    ):
        await ended(store, number, **change)
    await store.insert(a_job(9, user_id="ada"), SubmissionLimits(1000))
    tables = (problem_attempts, problem_solvers, submission_days)
    async with database.transaction() as connection:
        counted = [sorted((await connection.execute(select(table))).all()) for table in tables]
        for table in tables:
            await connection.execute(delete(table))
        await connection.run_sync(count_again)
        assert [sorted((await connection.execute(select(table))).all()) for table in tables] == counted
    assert counted[0] == [
        ("ada", "leaky-relu", "", 3, 2),
        ("ada", "leaky-relu", "float16", 1, 1),
        ("ada", "leaky-relu", "float32", 2, 1),
        ("bob", "leaky-relu", "", 1, 1),
        ("bob", "leaky-relu", "float32", 1, 1),
    ]
    assert counted[1] == [("", "leaky-relu", 2), ("float16", "leaky-relu", 1), ("float32", "leaky-relu", 2)]
    assert [row[2] for row in counted[2]] == [4, 1]


def count_again(connection: Connection) -> None:
    with Operations.context(MigrationContext.configure(connection)):
        import_module("services.scheduler.migrations.versions.0030_user_progress").count_ended()


async def test_what_is_not_proven_leaves_no_trace(store: JobStore, rankings: RankingReader) -> None:
    await ended(store, 1, timing=TIMING_UNPROVEN)
    found = await rankings.ranking(KEY, 10, "ada")
    assert (list(found.best), found.own, found.users) == ([], None, 0)


async def test_an_end_that_another_process_wrote_first_adds_no_second_time(
    store: JobStore, rankings: RankingReader
) -> None:
    first = await ended(store, 1)
    again = replace(first, state=JobState.SETTLING)
    with pytest.raises(StaleJobError):
        await store.move(again, first, [], START)
    [best] = (await rankings.ranking(KEY, 10)).best
    assert best.times == 1
