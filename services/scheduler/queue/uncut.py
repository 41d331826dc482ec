"""Work that a cancellation must not interrupt."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def uncut(work: Coroutine[Any, Any, T]) -> T:
    """Gives the result of `work`; a cancellation waits until `work` is done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with suppress(Exception):
            await task
        raise
