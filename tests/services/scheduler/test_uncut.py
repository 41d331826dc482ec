from __future__ import annotations

import asyncio

import pytest

from services.scheduler.queue.uncut import uncut


async def test_cancellation_waits_for_work_that_must_not_be_cut() -> None:
    begun, go_on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        await go_on.wait()
        done.set()

    task = asyncio.create_task(uncut(work()))
    await begun.wait()
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()
