"""Ends an executor whose pool is gone.

A rented machine costs money while its executor runs. If the pool's host dies for good, nothing else ends the executor.
So each GetCapabilities counts as the pool's heartbeat, and the executor ends by itself after a long silence; the
service that rents out the machine then takes it back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

RECHECK_SECONDS = 1.0
"""Time between checks of a machine that stays only because it is in use."""


class PoolGoneError(Exception):
    """The pool has been silent for too long, and nothing uses the machine."""

    def __init__(self, silence_seconds: float) -> None:
        super().__init__(f"no pool has asked for this machine for {silence_seconds:.0f} s, and nothing runs on it")


class PoolWatch:
    """Measures the pool's silence, from the executor's start.

    `is_in_use` returns True if the machine is in use even without its pool; it is not ended then.
    """

    def __init__(
        self,
        timeout: timedelta,
        is_in_use: Callable[[], bool],
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._timeout_seconds = timeout.total_seconds()
        self._is_in_use = is_in_use
        self._monotonic_seconds = monotonic_seconds
        self._heard_seconds = monotonic_seconds()

    def heard(self) -> None:
        """Note that the pool has called."""
        self._heard_seconds = self._monotonic_seconds()

    def check(self) -> float:
        """Return the seconds until the next check; raises PoolGoneError if the executor must end now."""
        silence_seconds = self._monotonic_seconds() - self._heard_seconds
        if silence_seconds < self._timeout_seconds:
            return self._timeout_seconds - silence_seconds
        if self._is_in_use():
            return RECHECK_SECONDS
        raise PoolGoneError(silence_seconds)

    async def run(self) -> None:
        """Watch until the pool is gone; raises PoolGoneError."""
        while True:  # noqa: ASYNC110 - it waits for time to pass, of which there is no event
            await asyncio.sleep(self.check())
