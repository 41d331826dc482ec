"""What queues used lately, which counts against them when what is left over is divided.

Use and capacity decay with the same half-life, so that their ratio is the part of the GPUs that a queue had. The book
is kept in the database from time to time: after a restart, queues are owed what they were owed before.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from servicekit.clock import Clock
from services.scheduler.fairness.kai.usage import UsageRecord
from services.scheduler.fairness.situation import Situation
from services.scheduler.store.queue_store import QueueStore
from vocabulary.slots import EIGHTH_MILLI

Key = tuple[str, str]
"""GPU type and queue."""


class UsageBook:
    """The loop that stores the book; half-life zero counts no past use.

    Records are in thousandths of GPU seconds: what one second takes from a whole number of GPU seconds would be rounded
    away, and nothing would ever be forgotten.
    """

    name = "usage-book"

    def __init__(self, store: QueueStore, half_life: timedelta, clock: Clock) -> None:
        self._store = store
        self._half_life_seconds = int(half_life.total_seconds())
        self._clock = clock
        self._records: dict[Key, UsageRecord] = {}
        self._since: dict[str, tuple[Mapping[str, int], int]] = {}
        self._is_read = False

    async def run_once(self) -> None:
        """Stores the book; the first time, reads it."""
        if not self._half_life_seconds:
            return
        if not self._is_read:
            self._records = self._records | await self._store.read_usage()
            self._is_read = True
            return
        await self._store.write_usage(self._records)

    def used_ppm(self, situation: Situation) -> dict[str, int]:
        """What each queue used of this GPU type up to now, as millionths of what there was. Changes nothing."""
        return {name: record.share_ppm for (_, name), record in self._up_to_now(situation).items()}

    def note(self, situation: Situation) -> None:
        """Notes what was used of this GPU type up to now, and what is in use from now on."""
        self._records |= self._up_to_now(situation)
        used = situation.queues.with_below((one.queue, one.eighths * EIGHTH_MILLI) for one in situation.running)
        self._since[situation.gpu_type] = (used, situation.own_milli)

    def _up_to_now(self, situation: Situation) -> dict[Key, UsageRecord]:
        """The records of all queues; none without a half-life."""
        if not self._half_life_seconds:
            return {}
        gpu_type, now = situation.gpu_type, int(self._clock.now().timestamp())
        in_use, capacity = self._since.get(gpu_type, ({}, 0))
        records: dict[Key, UsageRecord] = {}
        for name in situation.queues.order:
            record = self._records.get((gpu_type, name), UsageRecord(now))
            if now > record.time_seconds:
                record = record.after(now, in_use.get(name, 0), capacity, self._half_life_seconds)
            records[gpu_type, name] = record
        return records
