"""Background loops: an object with `run_once`, run for ever, woken by an event or by its interval."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Protocol

from servicekit.logging import get_logger
from servicekit.metrics import counter
from vocabulary.backoff import Backoff

log = get_logger(__name__)
failures = counter("wavepool_loop_failures", "Passes of a background loop that ended with an error.", ("loop",))

LONGEST_PAUSE = timedelta(seconds=30)


class Loop(Protocol):
    """A background task."""

    @property
    def name(self) -> str:
        """Name in logs and metrics."""
        ...

    async def run_once(self) -> None:
        """Does everything that is due now."""
        ...


async def run_loop(loop: Loop, interval: timedelta, wake: asyncio.Event | None = None) -> None:
    """Runs `loop` for ever: after each pass it waits for `wake` or `interval`, whichever is first.

    An error is logged and counted, and the pause grows with each failure in a row, up to 30 s. Ends only by
    cancellation.
    """
    seconds = interval.total_seconds()
    backoff = Backoff(first=2 * min(interval, timedelta(seconds=1)), longest=LONGEST_PAUSE)
    failed = 0
    wake = wake or asyncio.Event()
    while True:
        # A pass that never waits and wakes itself must not starve other tasks.
        await asyncio.sleep(0)
        wake.clear()
        pause = seconds
        try:
            await loop.run_once()
            failed = 0
        except Exception as error:
            failures.labels(loop.name).inc()
            log.exception("loop failed", extra={"loop": loop.name}, exc_info=error)
            failed += 1
            pause = backoff.pause(failed).total_seconds()
        with suppress(TimeoutError):
            # Not wait_for: on Python 3.11 it swallows a cancellation that comes together with the wake.
            async with asyncio.timeout(pause):
                await wake.wait()
