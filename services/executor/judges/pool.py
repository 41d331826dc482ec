"""Judges that wait for work: started ahead of time, each used once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from servicekit import logging
from services.executor.judges.judge import Judge
from services.executor.metrics import spare_judges

log = logging.get_logger(__name__)


class JudgePool:
    """Keeps `spares` judges ready. Refill it only between runs: a judge that starts would disturb a benchmark."""

    def __init__(self, start: Callable[[], Awaitable[Judge]], spares: int) -> None:
        self._start = start
        self._spares = spares
        self._waiting: deque[Judge] = deque()
        self._refilling: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> tuple[Judge, ...]:
        """The judges that are ready, the next one first."""
        return tuple(self._waiting)

    async def take(self) -> Judge:
        """Return a judge for the caller alone; raises OSError if none can be started."""
        while self._waiting:
            judge = self._waiting.popleft()
            spare_judges.set(len(self._waiting))
            if judge.is_alive:
                return judge
        return await self._start()

    def refill(self) -> None:
        """Start the missing judges in the background."""
        if self._refilling is None or self._refilling.done():
            self._refilling = asyncio.create_task(self._refill())

    async def close(self) -> None:
        """End all waiting judges."""
        self._closed = True
        if self._refilling is not None:
            await self._refilling
        await asyncio.gather(*(judge.end() for judge in self._waiting))
        self._waiting.clear()

    async def _refill(self) -> None:
        try:
            while len(self._waiting) < self._spares and not self._closed:
                self._waiting.append(await self._start())
                spare_judges.set(len(self._waiting))
        except OSError:
            log.exception("cannot start a judge")
