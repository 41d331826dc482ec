"""A machine in time: who has which parts of its GPUs and until when, and to whom they are promised later; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from vocabulary.slots import Slot

COMING = timedelta(minutes=10)
"""Machines that are being started count as free so much later. What ends by then may use the others meanwhile."""
GIVING_BACK = timedelta(minutes=1)
"""GPUs that we do not use and the pool does not call free are given back just now, and count as free so much later."""


class Use(NamedTuple):
    """A part of a GPU that is in use now, and until when at the latest."""

    user_id: str
    """The job or reservation that uses it."""
    slot: Slot
    end: datetime


class Promise(NamedTuple):
    """GPUs that somebody is to have for the time from `begin` until just before `end`."""

    user_id: str
    gpus: tuple[int, ...]
    begin: datetime
    end: datetime


@dataclass(frozen=True)
class Machine:
    """A machine that is there, on its way, or that the pool can start."""

    machine_id: str
    gpus: int
    uses: tuple[Use, ...] = ()
    is_known: bool = True
    """False for one that the pool has yet to start."""
    site: tuple[str, ...] = ()
    """Where it is, as far as its provider says: machines of one site are nearer to each other."""
    is_ready: bool = True
    """False while it is being started."""
    ours: tuple[int, ...] = ()
    """The eighths of each GPU that our jobs have, as bit masks."""
    others: tuple[int, ...] = ()
    """Those that none of our jobs has and the pool does not call free; empty while it is not ready."""
    promised: tuple[Promise, ...] = ()
    life_end: datetime | None = None
    """It lasts until then at the most; None for no limit."""

    @property
    def occupied(self) -> tuple[int, ...]:
        """All eighths of each GPU that somebody has."""
        if not self.others:
            return self.ours
        return tuple(mine | other for mine, other in zip(self.ours, self.others, strict=True))

    @cached_property
    def busy_until(self) -> Mapping[int, datetime]:
        """When each GPU that is in use is free at the latest."""
        found: dict[int, datetime] = {}
        for use in self.uses:
            found[use.slot.gpu] = max(use.end, found.get(use.slot.gpu, use.end))
        return found

    def busy_at(self, instant: datetime) -> int:
        """How many of its GPUs are still in use then, as far as is known now."""
        return sum(until > instant for until in self.busy_until.values())

    def free_time(self, now: datetime) -> datetime:
        """When all its GPUs are free at the latest, whatever is promised."""
        if not self.is_ready:
            return now + COMING
        return max(now + GIVING_BACK if any(self.others) else now, *self.busy_until.values(), now)

    def is_free(self, begin: datetime, use: timedelta, now: datetime) -> bool:
        """True if all its GPUs are free from `begin` on for so long, and promised to nobody."""
        ahead = (one.end <= begin or begin + use <= one.begin for one in self.promised)
        return self.free_time(now) <= begin and all(ahead)
