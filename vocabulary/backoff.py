"""Retries that wait longer after each failure in a row."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NoReturn

_MOST_DOUBLINGS = 20
"""Limit of the exponent, beyond every longest pause in use; without a limit the power of two would overflow."""


@dataclass(frozen=True)
class Backoff:
    """Doubles the pause after each failure in a row, up to the longest."""

    first: timedelta
    longest: timedelta

    def pause(self, failures: int) -> timedelta:
        """The pause after this many failures in a row, from 1."""
        return min(self.first * 2 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)


class Retries:
    """Counts failures in a row, and gives up if nothing succeeds for as long as `window`; without one, never."""

    def __init__(self, backoff: Backoff, window: timedelta | None = None) -> None:
        self._backoff = backoff
        self._window = window
        self._failing_since: datetime | None = None
        self._failures = 0

    def reset(self) -> None:
        """Notes a success: the window begins again with the next failure."""
        self._failing_since = None
        self._failures = 0

    def pause(self, now: datetime) -> timedelta | None:
        """Notes a failure and gives the pause before the next try; None: give up.

        The window runs from the first failure, not from the first try: a connection to a host that is gone takes long
        to fail.
        """
        self._failing_since = self._failing_since or now
        if self._window is not None and now - self._failing_since >= self._window:
            return None
        return self._next_pause()

    async def wait(self) -> None:
        """Notes a failure and returns after the pause before the next try; the window does not count here."""
        await asyncio.sleep(self._next_pause().total_seconds())

    def _next_pause(self) -> timedelta:
        self._failures += 1
        return self._backoff.pause(self._failures)


async def until(is_done: Callable[[], Awaitable[bool]], backoff: Backoff) -> None:
    """Tries until `is_done` gives True, after a longer pause each time."""
    retries = Retries(backoff)
    while not await is_done():
        await retries.wait()


async def again_and_again(work: Callable[[], Awaitable[float | None]], backoff: Backoff) -> NoReturn:
    """Repeats `work` for ever: after the seconds that it gives, or if it gives None, as it failed, by `backoff`."""
    retries = Retries(backoff)
    while True:
        pause = await work()
        if pause is None:
            await retries.wait()
        else:
            retries.reset()
            await asyncio.sleep(pause)
