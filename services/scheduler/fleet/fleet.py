"""Which machines of a GPU type a job of several is to get, and from when on; pure.

A job of several gets all of them at one instant, or none: nobody ever has a part of what it takes and waits for the
rest. Until that instant its machines are kept for it, as room is for a large job (decisions/0022), and the rest of the
time on them goes to jobs that end by then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from services.scheduler.fleet.machine import Machine, Promise


class WholeMachines(NamedTuple):
    """So many machines with so many GPUs or more, all of them."""

    number: int
    gpus: int
    use: timedelta
    """For how long, as far as others count on the end."""
    lease: timedelta = timedelta(0)
    """For how long at the most: the machines have to last so long."""


class GangSeat(NamedTuple):
    """The machines that a job is to get, those alone that are there, and from when on, if no more have to come."""

    job_id: str
    machine_ids: tuple[str, ...]
    begin: datetime
    is_whole: bool
    """True if all its machines are there."""
    no_turn: str = ""
    """Why it is not its turn yet, so that it has none; empty if it is."""

    def why(self, machines: int) -> str:
        """Why a job of so many machines waits."""
        there = len(self.machine_ids)
        if self.no_turn or not (there or self.is_whole):
            return self.no_turn or f"it takes {machines} whole machines, and fewer are there or on their way"
        kept = f"{there} of {machines} machines" if there < machines else f"{machines} whole machines"
        rest = "" if self.is_whole else "; the others are not there yet"
        return f"{kept} are kept for it, from {self.begin:%H:%M:%S} UTC on at the latest{rest}"


@dataclass(frozen=True)
class Fleet:
    """Machines of one GPU type."""

    machines: Sequence[Machine]
    now: datetime

    def first_start(self, job_id: str, need: WholeMachines) -> GangSeat:
        """The machines that are first free together for as long as is needed, of one site if one has so many.

        Nothing is kept if fewer are there or on their way: nobody knows when the others come, if ever.
        """
        found = [self._first_together(group, need) for group in self.groups(need)]
        if not found:
            return GangSeat(job_id, (), self.now, is_whole=False)
        begin, chosen = min(found, key=lambda one: one[0])
        there = tuple(sorted(one.machine_id for one in chosen if one.is_ready))
        return GangSeat(job_id, there, begin, len(there) == need.number)

    def groups(self, need: WholeMachines) -> list[list[Machine]]:
        """The machines that will do: those of each site that has enough, or all together; none if these are too few."""
        able = [one for one in self.machines if self._is_able(one, need)]
        by_site: defaultdict[tuple[str, ...], list[Machine]] = defaultdict(list)
        for one in able:
            by_site[one.site].append(one)
        groups = [by_site[site] for site in sorted(by_site) if len(by_site[site]) >= need.number]
        return groups or [group for group in [able] if len(able) >= need.number]

    def promising(self, user_id: str, machine_ids: Collection[str], begin: datetime, end: datetime) -> Fleet:
        """The same machines, if all GPUs of some of them are promised to somebody for a time."""
        machines = [
            replace(one, promised=(*one.promised, Promise(user_id, tuple(range(one.gpus)), begin, end)))
            if one.machine_id in machine_ids
            else one
            for one in self.machines
        ]
        return replace(self, machines=machines)

    def kept(self) -> list[tuple[str, Promise]]:
        """What is kept of each machine that is there, the earliest first: each GPU for whoever is to have it first."""
        found: list[tuple[str, Promise]] = []
        for machine in (one for one in self.machines if one.is_known):
            left = set(range(machine.gpus))
            for promise in sorted(machine.promised, key=lambda one: one.begin):
                if gpus := tuple(gpu for gpu in promise.gpus if gpu in left):
                    left.difference_update(gpus)
                    found.append((machine.machine_id, promise._replace(gpus=gpus)))
        return sorted(found, key=lambda one: one[1].begin)

    def _is_able(self, machine: Machine, need: WholeMachines) -> bool:
        is_long = machine.life_end is None or machine.free_time(self.now) + need.lease <= machine.life_end
        return machine.is_known and machine.gpus >= need.gpus and is_long

    def _first_together(self, group: Sequence[Machine], need: WholeMachines) -> tuple[datetime, Sequence[Machine]]:
        """The first instant at which so many are free for so long, and which; there are at least so many."""
        # What keeps one out can only go away when it is free, or at the end of something.
        times = {one.machine_id: one.free_time(self.now) for one in group}
        ends = {*times.values(), *(promise.end for one in group for promise in one.promised)}
        free = ((begin, [one for one in group if one.is_free(begin, need.use, self.now)]) for begin in sorted(ends))
        begin, able = next((begin, able) for begin, able in free if len(able) >= need.number)
        able.sort(key=lambda one: (not one.is_ready, times[one.machine_id], one.machine_id))
        return begin, able[: need.number]
