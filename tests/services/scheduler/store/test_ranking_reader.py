"""The contract of rankings, on each kind of database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from wavepool.executor.v1.run_event_pb2 import TIMING_UNPROVEN

from servicekit.db.database import Database
from services.scheduler.jobs.errors import StaleJobError
from services.scheduler.jobs.states import JobState
from services.scheduler.jobs.timing import RankingKey
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.ranking_reader import RankingReader
from submissions.visibility import Visibility
from tests.services.scheduler.jobs import START
from tests.services.scheduler.timed_jobs import ended

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
