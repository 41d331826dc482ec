"""Forgets disks that were deleted long ago."""

from __future__ import annotations

from datetime import timedelta

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.store.disk_store import DiskStore

log = get_logger(__name__)


class DiskPruner:
    """Forgets disks that were deleted more than `kept` ago; machines then remove their snapshots."""

    name = "disk pruner"

    def __init__(self, disks: DiskStore, kept: timedelta, clock: Clock) -> None:
        self._disks = disks
        self._kept = kept
        self._clock = clock

    async def run_once(self) -> None:
        """Forgets what is due."""
        now = self._clock.now()
        if forgotten := await self._disks.forget(now - self._kept, now):
            log.info("deleted disks were forgotten", extra={"disks": forgotten})
