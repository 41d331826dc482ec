"""Reads a stream in batches: while one batch is processed, the next one gathers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

T = TypeVar("T")

# If this many items wait, the stream is not read further, which slows its sender down.
MAX_WAITING = 256


async def batches(stream: AsyncIterator[T]) -> AsyncGenerator[list[T]]:
    """Yields all items that have arrived since the last batch; ends, or raises, as the stream does."""
    waiting: list[T] = []
    arrived, room = asyncio.Event(), asyncio.Event()

    async def pump() -> None:
        async for item in stream:
            waiting.append(item)
            arrived.set()
            if len(waiting) >= MAX_WAITING:
                room.clear()
                await room.wait()

    pumping = asyncio.create_task(pump())
    pumping.add_done_callback(lambda _: arrived.set())
    try:
        while waiting or not pumping.done():
            await arrived.wait()
            arrived.clear()
            batch, waiting[:] = list(waiting), []
            room.set()
            if batch:
                yield batch
        pumping.result()
    finally:
        pumping.cancel()
        await asyncio.gather(pumping, return_exceptions=True)
