"""Fits waiting work into machines, and lists the machines that are missing.

Work goes first into free slots of ready machines, then into machines on their way. The rest may still be better off in
a queue: a machine in use may finish its job and take the next one before a new machine could be ready. So a machine is
missing only for work that the present machines would not begin before a new one is ready. If the usual times of jobs
and starts are not known, every job without a slot counts.
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
    """`jobs` waiting jobs that each want `eighths` of a GPU of that type or of a fallback type."""

    gpu_type: str
    eighths: int
    jobs: int
    fallback_gpu_types: tuple[str, ...] = ()

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The GPU types that the work may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)


@dataclass(frozen=True)
class Wish:
    """A missing machine, of the first of these GPU types that can be had."""

    gpu_types: tuple[str, ...]
    origin: Origin = Origin.DEMAND


@dataclass(frozen=True)
class Pace:
    """Measured time that a job holds a machine, and that a machine takes to be ready; None if not known yet."""

    job_time: timedelta | None = None
    start_time: timedelta | None = None

    def jobs_in_turn(self, within: timedelta) -> int:
        """Number of jobs that a machine begins one after another within that time, besides those that it has."""
        if not self.job_time or within <= _NO_TIME:
            return 0
        return within // self.job_time


@dataclass
class Packing:
    """Fills machines: keeps the free slots by machine, and the eighths that come free in time by GPU type."""

    gpu_count: int
    used: set[str] = field(default_factory=set[str])
    _bins: list[tuple[str, str, tuple[int, ...]]] = field(default_factory=list[tuple[str, str, tuple[int, ...]]])
    _in_turn: Counter[str] = field(default_factory=Counter[str])

    def add(self, machine: Machine, turns: int) -> None:
        """Add an existing machine, each of whose eighths can take `turns` more jobs in time."""
        self._bins.append((machine.machine_id, machine.gpu_type, machine.occupied))
        self._in_turn[machine.gpu_type] += turns * machine.gpu_count * slots.EIGHTHS_PER_GPU

    def add_wished(self, gpu_type: str) -> None:
        """Add a machine that is going to be asked for."""
        self._bins.append(("", gpu_type, (0,) * self.gpu_count))

    def fit(self, demand: Demand) -> bool:
        """Place one job of that kind, now or in time; True if there was room."""
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
    """The missing machines, and the ids of the machines that are to serve the waiting work."""

    wishes: tuple[Wish, ...] = ()
    used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PackingRules:
    """`gpu_count` is that of new machines. After `most_wishes`, each kind of work gets only one more wish."""

    gpu_count: int = 1
    most_wishes: int = 100


def machines_missing(
    demands: Sequence[Demand],
    machines: Sequence[Machine],
    paces: Mapping[str, Pace],
    rules: PackingRules,
    now: datetime,
) -> Missing:
    """The machines that the waiting work needs besides the existing ones."""
    packing = Packing(rules.gpu_count)
    for machine in machines:
        if machine.state in READY | ON_THE_WAY:
            packing.add(machine, _turns(machine, paces.get(machine.gpu_type, Pace()), now))
    wishes: list[Wish] = []
    # Large jobs first, because they find the fewest places.
    for demand in sorted(demands, key=lambda demand: -demand.eighths):
        wishes_before = len(wishes)
        for _ in range(demand.jobs):
            if packing.fit(demand):
                continue
            # One of each kind in any case, so that each learns of its obstacle.
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
    """Time by which its present job has exceeded the usual one; the job may go on for as long again."""
    if machine.state is not MachineState.BUSY or not pace.job_time or machine.last_used_time is None:
        return _NO_TIME
    return max(_NO_TIME, now - machine.last_used_time - pace.job_time)
