"""The GPU types that are in maintenance, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from servicekit.clock import Clock
from servicekit.logging import get_logger
from services.scheduler.jobs.errors import InvalidFieldError
from services.scheduler.jobs.reservation_checks import Maintenance, maintenance_of
from services.scheduler.store.maintenance_store import MaintenanceStore

log = get_logger(__name__)


class MaintenanceBook(Mapping[str, Maintenance]):
    """What the settings say and operators have begun, as of now; a loop reads what another process has changed."""

    name = "maintenance-book"

    def __init__(self, store: MaintenanceStore, settings: Mapping[str, Maintenance], clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._begun: dict[str, Maintenance] = {}

    async def run_once(self) -> None:
        """Reads what operators have begun."""
        self._begun = await self._store.read()

    def __getitem__(self, gpu_type: str) -> Maintenance:
        return self._current()[gpu_type]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    async def begin(self, gpu_type: str, reason: str, until: datetime | None, user_id: str) -> None:
        """Begins maintenance; the operator who does may still reserve the type. Raises InvalidFieldError."""
        if until is not None and until <= self._clock.now():
            raise InvalidFieldError("until", f"must be in the future; it is {until:%Y-%m-%dT%H:%M:%SZ}")
        await self._store.begin(gpu_type, Maintenance(reason, (user_id,), until))
        await self.run_once()
        log.info("audit: maintenance begins", extra={"gpu_type": gpu_type, "by": user_id, "reason": reason})

    async def end(self, gpu_type: str, user_id: str) -> None:
        """Ends it; raises InvalidFieldError if no command began it."""
        if not await self._store.end(gpu_type):
            by_settings = maintenance_of(gpu_type, self._settings)
            why = "is in maintenance by SCHEDULER_MAINTENANCE: change that" if by_settings else "is in no maintenance"
            raise InvalidFieldError("gpu_type", f"{gpu_type} {why}")
        await self.run_once()
        log.info("audit: maintenance ends", extra={"gpu_type": gpu_type, "by": user_id})

    def _current(self) -> dict[str, Maintenance]:
        now = self._clock.now()
        begun = {name: one for name, one in self._begun.items() if one.until is None or now < one.until}
        return begun | {name: one for name, one in self._settings.items() if not maintenance_of(name, begun)}
