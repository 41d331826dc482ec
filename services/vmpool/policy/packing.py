"""Fits waiting work into machines, and tells which machines are missing.

Work goes first into free slots of ready machines, then of machines on their way. What is left over may still be better
off in a queue: a machine in use that is done with its job before a new one could be ready takes the next job then. So a
machine is missing only for work that those there are would not begin by the time that a new one is ready. If it
is not known how long jobs and starts take, every job counts that finds no slot.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.machines import slot as slots
from services.vmpool.machines.machine import ON_THE_WAY, READY, Machine, MachineState, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

_NO_TIME = timedelta(0)


@dataclass(frozen=True)
class Demand:
    """`jobs` waiting jobs that each want `eighths` of a GPU of that type, or else of a fallback type."""

    gpu_type: str
    eighths: int
    jobs: int
    fallback_gpu_types: tuple[str, ...] = ()

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """What it may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)


@dataclass(frozen=True)
class Wish:
    """A machine that is missing: of the first of these GPU types that can be had."""

    gpu_types: tuple[str, ...]
    origin: Origin = Origin.DEMAND


@dataclass(frozen=True)
class Pace:
    """How long jobs hold a machine and how long a machine takes to be ready, as measured; None: not known yet."""

    job_time: timedelta | None = None
    start_time: timedelta | None = None

    def jobs_in_turn(self, within: timedelta) -> int:
        """How many jobs one after another a machine begins within that time, beside those that it has."""
        if not self.job_time or within <= _NO_TIME:
            return 0
        return within // self.job_time


@dataclass
class Packing:
    """Machines as they fill up: free slots by machine, and eighths that come free in time by GPU type."""

    gpu_count: int
    used: set[str] = field(default_factory=set[str])
    _bins: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list[tuple[str, str, tuple[int, ...]]])
    _in_turn: Counter[str] = field(default_factory=Counter[str])

    def add(self, machine: Machine, turns: int) -> None:
        """A machine that there is, which in time takes that many jobs one after another for each of its slots."""
        self._bins.append((machine.machine_id, machine.gpu_type, machine.occupied))
        self._in_turn[machine.gpu_type] += turns * machine.gpu_count * slots.EIGHTHS_PER_GPU

    def add_wished(self, gpu_type: str) -> None:
        """A machine that is going to be asked for."""
        self._bins.append(("", gpu_type, (0,) * self.gpu_count))

    def fit(self, demand: Demand) -> bool:
        """Give one job of that kind its place, if there is one: now, or in time."""
        return self._fit_now(demand) or self._fit_in_turn(demand)

    def _fit_now(self, demand: Demand) -> bool:
        for wanted in demand.gpu_types:
            for index, (machine_id, gpu_type, occupied) in enumerate(self._bins):
                slot = slots.free_slot(occupied, demand.eighths) if gpu_type == wanted else None
                if slot is not None:
                    self._bins[index] = (machine_id, gpu_type, slots.taken(occupied, slot))
                    self.used.add(machine_id)
                    return True
        return False

    def _fit_in_turn(self, demand: Demand) -> bool:
        for wanted in demand.gpu_types:
            if self._in_turn[wanted] >= demand.eighths:
                self._in_turn[wanted] -= demand.eighths
                return True
        return False


@dataclass(frozen=True)
class Missing:
    """The machines that are missing, and the ids of those that are to serve what waits."""

    wishes: tuple[Wish, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PackingRules:
    """`gpu_count` is that of new machines; beyond `most_wishes` one of each kind is given, as more change nothing."""

    gpu_count: int = 1
    most_wishes: int = 100


def machines_missing(
    demands: Sequence[Demand],
    machines: Sequence[Machine],
    paces: Mapping[str, Pace],
    rules: PackingRules,
    now: datetime,
) -> Missing:
    """Which machines the waiting work needs beside those that there are."""
    packing = Packing(rules.gpu_count)
    for machine in machines:
        if machine.state in READY | ON_THE_WAY:
            packing.add(machine, _turns(machine, paces.get(machine.gpu_type, Pace()), now))
    wishes: list[Wish] = []
    # Large pieces first: they find the fewest places.
    for demand in sorted(demands, key=lambda demand: -demand.eighths):
        wishes_before = len(wishes)
        for _ in range(demand.jobs):
            if packing.fit(demand):
                continue
            # One of each kind in any case, so that each hears what stands in its way.
            if len(wishes) >= max(rules.most_wishes, wishes_before + 1):
                break
            wishes.append(Wish(demand.gpu_types))
            packing.add_wished(demand.gpu_type)
            packing.fit(demand)
    return Missing(tuple(wishes), frozenset(packing.used - {""}))


def _turns(machine: Machine, pace: Pace, now: datetime) -> int:
    start = pace.start_time or _NO_TIME
    if machine.state in READY:
        return pace.jobs_in_turn(start - _overdue(machine, pace, now))
    ready_in = max(_NO_TIME, machine.create_time + start - now)
    return pace.jobs_in_turn(start - ready_in)


def _overdue(machine: Machine, pace: Pace, now: datetime) -> timedelta:
    """How much longer than usual its present job has taken so far; it may go on as long again."""
    if machine.state is not MachineState.BUSY or not pace.job_time or machine.last_used_time is None:
        return _NO_TIME
    return max(_NO_TIME, now - machine.last_used_time - pace.job_time)
