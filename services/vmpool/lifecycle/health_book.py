"""Remembers when each machine last answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime, timedelta


@dataclass
class HealthBook:
    """Decides when to ask a machine, and when its silence means that it is lost.

    It is kept in memory: after a restart of the pool, every machine's silence begins at zero.
    """

    heartbeat_interval: timedelta
    lost_after: timedelta
    reserved_lost_after: timedelta
    """Silence after which a machine with reservations is lost: their users may load it so that it answers nobody."""
    _heard: dict[str, datetime] = field(default_factory=dict[str, "datetime"])
    _asked: dict[str, datetime] = field(default_factory=dict[str, "datetime"])

    def is_due(self, machine_id: str, now: datetime) -> bool:
        """True if it is time to ask again; the question then counts as asked."""
        asked = self._asked.get(machine_id)
        # `abs`, because a clock that was set back must not keep machines from being asked.
        if asked is not None and abs(now - asked) < self.heartbeat_interval:
            return False
        self._asked[machine_id] = now
        self._heard.setdefault(machine_id, now)
        return True

    def heard(self, machine_id: str, now: datetime) -> None:
        """Note that the machine answered."""
        self._heard[machine_id] = now

    def silence(self, machine_id: str, now: datetime) -> timedelta:
        """Time for which it has left heartbeats unanswered."""
        heard = min(self._heard.get(machine_id, now), now)
        if machine_id in self._heard:
            # If the clock was set back, silence begins again.
            self._heard[machine_id] = heard
        return now - heard

    def is_lost(self, machine_id: str, now: datetime, *, is_reserved: bool = False) -> bool:
        """True if it has been silent for too long."""
        longest = self.reserved_lost_after if is_reserved else self.lost_after
        return self.silence(machine_id, now) >= longest

    def forget(self, machine_id: str) -> None:
        """Forget a machine that is over."""
        self._heard.pop(machine_id, None)
        self._asked.pop(machine_id, None)
