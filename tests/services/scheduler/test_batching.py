from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.queue.batching import MAX_WAITING, batches


async def stream(pauses: list[bool]) -> AsyncIterator[int]:
    for number, pause in enumerate(pauses):
        if pause:
            await asyncio.sleep(0)
        yield number


@given(st.lists(st.booleans(), max_size=3 * MAX_WAITING), st.lists(st.booleans(), max_size=20))
async def test_batches_hold_every_item_once_and_in_order(pauses: list[bool], consumer_pauses: list[bool]) -> None:
    seen: list[int] = []
    waits = iter(consumer_pauses)
    async for batch in batches(stream(pauses)):
        assert 0 < len(batch) <= MAX_WAITING
        seen += batch
        if next(waits, False):
            await asyncio.sleep(0)
    assert seen == list(range(len(pauses)))


async def test_items_that_arrive_while_one_batch_is_dealt_with_come_together() -> None:
    second_half = asyncio.Event()

    async def bursts() -> AsyncIterator[int]:
        yield 0
        await second_half.wait()
        for number in range(1, 10):
            yield number

    gathering = batches(bursts())
    assert await anext(gathering) == [0]
    second_half.set()
    await asyncio.sleep(0)
    assert await anext(gathering) == list(range(1, 10))
    await gathering.aclose()


async def test_error_of_the_stream_comes_after_its_last_item() -> None:
    async def breaks() -> AsyncIterator[int]:
        yield 1
        raise ConnectionError("cut")

    gathering = batches(breaks())
    assert await anext(gathering) == [1]
    with pytest.raises(ConnectionError):
        await anext(gathering)
