"""Races between coroutines, and work that a cancellation must not interrupt."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

T = TypeVar("T")


async def first_result(*duties: Coroutine[Any, Any, T]) -> T:
    """Gives or raises the result of the first duty to end (the earlier argument in a tie); ends the others."""
    tasks = [asyncio.ensure_future(duty) for duty in duties]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def uncut(work: Coroutine[Any, Any, T]) -> T:
    """Gives the result of `work`; a cancellation waits until `work` is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(Exception):
            await task
        raise
