"""Coroutines and cancellation: races that the first decides, and work that must not be cut in half."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


async def first_result(*duties: Coroutine[Any, Any, T]) -> T:
    """What the first duty to end gives or raises, the earlier argument where several have ended; ends the others."""
    tasks = [asyncio.ensure_future(duty) for duty in duties]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def uncut(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives; a cancellation waits until it is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(Exception):
            await task
        raise
