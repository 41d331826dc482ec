"""The loop that keeps history from growing for ever."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.vmpool.store.history_store import HistoryStore

log = get_logger(__name__)


class Pruner:
    """Forgets history that is older than `kept`."""

    name = "pruner"

    def __init__(self, history: HistoryStore, kept: timedelta, clock: Clock) -> None:
        self._history = history
        self._kept = kept
        self._clock = clock

    async def run_once(self) -> None:
        """Forget everything that is due."""
        before = self._clock.now() - self._kept
        forgotten = {
            "events": await self._history.forget_events(before),
            "usage_facts": await self._history.forget_facts(before),
            # In this order, because a machine outlives its leases.
            "leases": await self._history.forget_leases(before),
            "machines": await self._history.forget_machines(before),
        }
        if any(forgotten.values()):
            log.info("history was forgotten", extra=forgotten)
