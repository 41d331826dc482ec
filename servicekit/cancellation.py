"""Work that a cancellation must not cut off, and work that is cut off once something else has happened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def uncut(work: Awaitable[T], undo: Callable[[T], Awaitable[object]] | None = None) -> T:
    """Gives the result of `work`. Who is cancelled meanwhile, however often, waits until it is done.

    Nobody gets its result then, so that goes to `undo`, which is not cut off either.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        has_failed = task.cancelled() or task.exception() is not None
        if undo is not None and not has_failed:
            await uncut(undo(task.result()))
        raise


async def unless(stopped: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Gives the result of `work`, or None if `stopped` is set first; the work is then cancelled, and has ended."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stopped.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
    finally:
        stopping.cancel()
        working.cancel()
        await asyncio.wait({working, stopping})
    # What it made although it was cancelled has nobody else who could give it back.
    return None if working.cancelled() or working.exception() else working.result()
