from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta

from servicekit.loops import run_loop

NEVER = timedelta(hours=1)
TIMEOUT_SECONDS = 60


class Recorder:
    name = "recorder"

    def __init__(self, *, failures: int = 0) -> None:
        self.passes: asyncio.Queue[int] = asyncio.Queue()
        self._count = 0
        self._failures = failures

    async def run_once(self) -> None:
        self._count += 1
        await self.passes.put(self._count)
        if self._count <= self._failures:
            raise RuntimeError


async def stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_a_loop_runs_at_once_and_then_when_it_is_woken() -> None:
    recorder, wake = Recorder(), asyncio.Event()
    task = asyncio.create_task(run_loop(recorder, NEVER, wake))
    assert await asyncio.wait_for(recorder.passes.get(), TIMEOUT_SECONDS) == 1
    await asyncio.sleep(0)
    wake.set()
    assert await asyncio.wait_for(recorder.passes.get(), TIMEOUT_SECONDS) == 2
    await stop(task)


async def test_a_wake_during_a_pass_is_not_lost() -> None:
    wake = asyncio.Event()
    recorder = Recorder()
    inner = recorder.run_once

    async def wake_while_running() -> None:
        await inner()
        wake.set()

    recorder.run_once = wake_while_running
    task = asyncio.create_task(run_loop(recorder, NEVER, wake))
    assert [await asyncio.wait_for(recorder.passes.get(), TIMEOUT_SECONDS) for _ in range(3)] == [1, 2, 3]
    await stop(task)


async def test_a_failing_pass_does_not_end_the_loop() -> None:
    recorder = Recorder(failures=2)
    task = asyncio.create_task(run_loop(recorder, timedelta(milliseconds=1)))
    assert [await asyncio.wait_for(recorder.passes.get(), TIMEOUT_SECONDS) for _ in range(4)] == [1, 2, 3, 4]
    await stop(task)
