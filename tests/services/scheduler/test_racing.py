from __future__ import annotations

import asyncio

import pytest

from services.scheduler.queue.racing import first_result, uncut


async def test_first_to_end_decides_and_the_others_are_cancelled() -> None:
    cancelled = asyncio.Event()

    async def forever() -> str:
        try:
            return await asyncio.Future[str]()
        finally:
            cancelled.set()

    async def soon() -> str:
        await asyncio.sleep(0)
        return "soon"

    assert await first_result(forever(), soon()) == "soon"
    assert cancelled.is_set()


async def test_earlier_duty_wins_a_tie() -> None:
    async def at_once(word: str) -> str:
        return word

    assert await first_result(at_once("first"), at_once("second")) == "first"


async def test_error_of_the_first_to_end_is_raised() -> None:
    async def fails() -> None:
        raise ConnectionError("cut")

    async def forever() -> None:
        await asyncio.Future[None]()

    with pytest.raises(ConnectionError):
        await first_result(forever(), fails())


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
