"""Judges are started ahead, used once, and ended with the pool."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from wavepool.executor.v1.run_event_pb2 import VERDICT_ACCEPTED, VERDICT_INFRA_ERROR

from services.executor.core.model.job import CoreJob
from services.executor.judges.judge import Judge
from services.executor.judges.pool import JudgePool
from submissions.modes import Mode
from tests.services.executor.client import until
from tests.services.executor.conftest import JUDGE, REPOSITORY

JOB = CoreJob("finish ACCEPTED", Mode.CHECK, "softmax")


async def start() -> Judge:
    return await Judge.start(JUDGE, {**os.environ, "PYTHONPATH": str(REPOSITORY)})


@pytest.fixture
async def pool() -> AsyncIterator[JudgePool]:
    pool = JudgePool(start, spares=2)
    yield pool
    await pool.close()


async def refilled(pool: JudgePool) -> None:
    pool.refill()
    await until(lambda: len(pool.waiting) == 2)


async def test_a_judge_is_there_before_it_is_needed_and_is_given_out_once(pool: JudgePool) -> None:
    await refilled(pool)
    ready = {judge.pid for judge in pool.waiting}

    first, second, third = [await pool.take() for _ in range(3)]

    assert {first.pid, second.pid} == ready
    assert third.pid not in ready
    for judge in (first, second, third):
        await judge.end()


async def test_a_judge_that_died_while_it_waited_is_passed_over(pool: JudgePool) -> None:
    await refilled(pool)
    dead, alive = pool.waiting
    await dead.end()

    judge = await pool.take()

    assert judge is alive
    await judge.end()


async def test_a_spare_judge_does_its_job(pool: JudgePool) -> None:
    await refilled(pool)
    judge = await pool.take()

    events = [event async for event in judge.run(JOB)]
    await judge.end()

    assert [event.finished.verdict for event in events if event.HasField("finished")] == [VERDICT_ACCEPTED]


async def test_closing_ends_all_that_wait(pool: JudgePool) -> None:
    await refilled(pool)
    pids = [judge.pid for judge in pool.waiting]

    await pool.close()

    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


async def test_a_judge_that_cannot_be_started_is_reported_when_it_is_needed() -> None:
    pool = JudgePool(lambda: Judge.start(["/no/such/program"], {}), spares=1)

    judge = await pool.take()
    events = [event async for event in judge.run(JOB)]

    assert [event.finished.verdict for event in events if event.HasField("finished")] == [VERDICT_INFRA_ERROR]
    await judge.end()
