"""The loop that forgets the figures of old attempts."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.store.attempt_reader import AttemptReader

log = get_logger(__name__)


class AttemptPruner:
    """Forgets attempts that ended more than `kept` ago."""

    name = "attempt pruner"

    def __init__(self, attempts: AttemptReader, kept: timedelta, clock: Clock) -> None:
        self._attempts = attempts
        self._kept = kept
        self._clock = clock

    async def run_once(self) -> None:
        """Forgets what is due."""
        if forgotten := await self._attempts.forget(self._clock.now() - self._kept):
            log.info("old attempts were forgotten", extra={"attempts": forgotten})
