"""Remembers how busy each machine was lately, as its heartbeats said."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.machines.load import MeanLoad, Sums

if TYPE_CHECKING:
    from datetime import datetime

    from services.vmpool.machines.load import Load

SLICE = timedelta(seconds=30)
"""Heartbeats of such a time are kept as their sums, so that a machine's memory is some hundred numbers."""
RECENT = timedelta(minutes=5)
"""Time over which processors and memory are averaged: long enough for a compile, short enough for an alert."""


@dataclass
class LoadBook:
    """Keeps the loads of the last `window` in memory: after a restart of the pool it begins again."""

    window: timedelta
    _slices: dict[str, deque[Sums]] = field(default_factory=dict[str, "deque[Sums]"])

    def note(self, machine_id: str, load: Load, now: datetime) -> None:
        """Note a heartbeat's load."""
        slices = self._slices.setdefault(machine_id, deque())
        # A clock that was set back begins a new slice.
        if not slices or not timedelta(0) <= now - slices[-1].start < SLICE:
            slices.append(Sums(now))
        slices[-1].add(load)
        while now - slices[0].start > self.window + SLICE:
            slices.popleft()

    def mean(self, machine_id: str, now: datetime) -> MeanLoad:
        """The machine's mean load: of processors and memory over RECENT, of GPUs and leases over the window."""
        slices = self._slices.get(machine_id, ())
        recent = [one for one in slices if now - one.start <= RECENT]
        within = [one for one in slices if now - one.start <= self.window]
        return MeanLoad.of(recent, within)

    def forget(self, machine_id: str) -> None:
        """Forget a machine that is over."""
        self._slices.pop(machine_id, None)
