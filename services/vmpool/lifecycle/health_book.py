"""When each machine was last heard of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime, timedelta


@dataclass
class HealthBook:
    """Decides when a machine is to be asked, and when its silence means that it is lost.

    Kept in memory: after a restart of the pool the silence of every machine begins anew.
    """

    heartbeat_interval: timedelta
    lost_after: timedelta
    _heard: dict[str, datetime] = field(default_factory=dict[str, "datetime"])
    _asked: dict[str, datetime] = field(default_factory=dict[str, "datetime"])

    def is_due(self, machine_id: str, now: datetime) -> bool:
        """It is time to ask again; the question is taken as asked."""
        asked = self._asked.get(machine_id)
        # Either way: a clock that was set back must not keep machines from being asked.
        if asked is not None and abs(now - asked) < self.heartbeat_interval:
            return False
        self._asked[machine_id] = now
        self._heard.setdefault(machine_id, now)
        return True

    def heard(self, machine_id: str, now: datetime) -> None:
        """It answered."""
        self._heard[machine_id] = now

    def silence(self, machine_id: str, now: datetime) -> timedelta:
        """How long it has left heartbeats unanswered."""
        heard = min(self._heard.get(machine_id, now), now)
        if machine_id in self._heard:
            # After a clock that was set back silence begins anew.
            self._heard[machine_id] = heard
        return now - heard

    def is_lost(self, machine_id: str, now: datetime) -> bool:
        """It has been silent for too long."""
        return self.silence(machine_id, now) >= self.lost_after

    def forget(self, machine_id: str) -> None:
        """The machine is over."""
        self._heard.pop(machine_id, None)
        self._asked.pop(machine_id, None)
