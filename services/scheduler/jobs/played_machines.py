"""What a wait depends on: machines, the runs on them, those that wait or may come, and what is kept for later; pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from vocabulary.slots import EIGHTHS_PER_GPU, Slot, gpus_for


class Asked(NamedTuple):
    """A time that people asked for, in seconds. They have what they got for a part of it, and for `beyond` more."""

    seconds: float
    beyond: float = 0.0


class Need(NamedTuple):
    """What a job takes: so many eighths of a machine's GPUs, for about as long as one of `times`."""

    times: Sequence[float]
    """In seconds; or, with `asked`, the parts of such times that people used."""
    eighths: int = EIGHTHS_PER_GPU
    gpus: frozenset[int] | None = None
    """The GPUs that it may have, by number; None for all."""
    limits: Sequence[Hashable] = ()
    """The limits that it counts for."""
    counted: int = 0
    """What it counts for them on each machine, in eighths; 0 for all that it takes."""
    machines: int = 1
    """It takes its eighths of each of so many machines, all at one instant."""
    asked: Asked | None = None
    """The time that people asked for; None for a job, which ends by itself."""
    queue: Hashable = None
    longest: float = math.inf
    """Its longest time, in seconds."""

    @property
    def counted_eighths(self) -> int:
        """What it counts for its limits."""
        return (self.counted or self.eighths) * self.machines


class Busy(NamedTuple):
    """A run under way, which began `elapsed` seconds ago and takes about as long as one of `times`."""

    slots: Sequence[Slot]
    """What it has; empty if it is not in the fleet. GPUs are numbered through the whole fleet."""
    elapsed: float
    times: Sequence[float]
    limits: Sequence[Hashable] = ()
    counted_eighths: int = EIGHTHS_PER_GPU
    """What it counts for its limits."""
    asked: Asked | None = None
    """As in `Need`; `elapsed` is then what they have used of it."""
    longest_rest: float = math.inf
    """Seconds after which it has ended at its limit."""
    queue: Hashable = None


class Kept(NamedTuple):
    """GPUs of a machine that are kept for a reservation that begins in so many seconds, and has them for so many."""

    machine: int
    gpus: frozenset[int]
    """By number through the whole fleet."""
    begin: float
    lasts: float
    queue: Hashable = None


@dataclass(frozen=True)
class PlayedMachines:
    """The GPUs that a job may get. Of machines and GPUs that are free as soon, the first are taken."""

    machines: Sequence[int]
    """The number of GPUs of each machine. They are numbered from 0, through all machines."""
    busy: Sequence[Busy] = ()
    starting: Mapping[int, tuple[float, float, float]] = field(default_factory=dict[int, tuple[float, float, float]])
    """Seconds since the order, p50 and p90 of a start, by the number of a machine that is being started."""
    limits: Mapping[Hashable, int] = field(default_factory=dict[Hashable, int])
    """How many eighths jobs that name it may have at once."""
    sites: Sequence[Hashable] = ()
    """Where each machine is; empty if all are of one site. Several are taken of one site if one has so many."""
    shares: Mapping[Hashable, int] = field(default_factory=dict[Hashable, int])
    """How many eighths each queue is owed; those that are not here have what they find."""
    kept: Sequence[Kept] = ()
    """Only plays in full know of it."""
    coming: Sequence[Sequence[tuple[float, Need]]] = ()
    """Who may come later, after how many seconds: as they came on each of the last days. Each play has one of these;
    only plays in full know of it."""
    unknown_starts: int = 0
    """Machines beside these that are being started, and nobody knows how long that takes."""

    @property
    def gpus(self) -> int:
        """The number of GPUs."""
        return sum(self.machines)

    @property
    def first_gpus(self) -> list[int]:
        """The number of the first GPU of each machine."""
        return [0, *accumulate(self.machines)][: len(self.machines)]

    def free_gpus(self) -> int:
        """The number of GPUs of which nothing is in use."""
        taken = {slot.gpu for one in self.busy for slot in one.slots}
        starting = sum(self.machines[machine] for machine in self.starting)
        return self.gpus - len(taken) - starting

    def can_give(self, need: Need) -> bool:
        """True if its machines have so much, once they are free, and no limit is below it."""
        return not self.is_above_limit(need) and len(self.able(need)) >= need.machines

    def is_above_limit(self, need: Need) -> bool:
        """True if a limit is below what the job counts for it."""
        counted = need.counted_eighths
        return any(self.limits.get(limit, counted) < counted for limit in need.limits)

    def able(self, need: Need) -> list[int]:
        """The numbers of the machines that have what the job takes of each, once they are free."""
        wanted, allowed = gpus_for(need.eighths), need.gpus
        machines = zip(self.first_gpus, self.machines, strict=True)
        return [
            number
            for number, (first, count) in enumerate(machines)
            if count >= wanted
            and (allowed is None or sum(gpu in allowed for gpu in range(first, first + count)) >= wanted)
        ]

    def groups(self, need: Need) -> list[list[int]]:
        """The machines of each site that has enough for the job, or else all of them, by number."""
        able = self.able(need)
        by_site = defaultdict[Hashable, list[int]](list)
        for number in able:
            by_site[self.sites[number] if self.sites else None].append(number)
        return [those for those in by_site.values() if len(those) >= need.machines] or [able]
