"""Plays a queue forward in which people wait for GPUs, from one end to the next, as the dispatcher would go on.

Jobs are tried in their order whenever something ends. The first job of each queue that finds no room has a hold on
machines, from the instant on at which the runs there have ended at their limits; until then, only jobs that end by it
start there. Small jobs so go before large ones, and delay them up to that instant, however early others leave.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Hashable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from services.scheduler.jobs.played_machines import Kept, Need, PlayedMachines
from vocabulary.slots import EIGHTHS_PER_GPU

MOST_HOLDS = 4
"""As many as a pass of the dispatcher keeps."""


class _Held(NamedTuple):
    """What is kept of a machine, in eighths, and from when on at the latest."""

    eighths: int
    time: float


class Coming(NamedTuple):
    """A job that comes in so many seconds, if the others that wait are ahead of it."""

    at: float
    need: Need
    groups: list[list[int]]
    """The machines that will do for it, by site."""


class ForwardPlay:
    """A queue, to be played with times of runs that are drawn again for each play."""

    def __init__(self, fleet: PlayedMachines, needs: Sequence[Need]) -> None:
        """The last of `needs` is the job that is asked about; the others are ahead of it."""
        self.fleet, self.needs = fleet, needs
        self.sizes = [gpus * EIGHTHS_PER_GPU for gpus in fleet.machines]
        """The eighths of each machine."""
        machine_of = [number for number, gpus in enumerate(fleet.machines) for _ in range(gpus)]
        self.parts = [
            _by_machine([(machine_of[slot.gpu], min(slot.eighths, EIGHTHS_PER_GPU)) for slot in one.slots])
            for one in fleet.busy
        ]
        """What each run under way has of each machine."""
        self.groups = [fleet.groups(need) for need in needs]
        """The machines that will do for each of those that wait, by site."""
        self.kept: list[list[Kept]] = [[] for _ in self.sizes]
        """What is kept of each machine for reservations that start later, the earliest first."""
        for one in sorted(fleet.kept, key=lambda one: one.begin):
            self.kept[one.machine].append(one)

    def wait(
        self,
        rests: Sequence[float],
        ready: Sequence[float],
        times: Sequence[float],
        coming: Iterator[tuple[Coming, float]],
    ) -> float:
        """The seconds until the job starts.

        `rests` are those of the runs under way, `ready` of the machines that are being started, and `times` those for
        which the jobs ahead have what they take. `coming` come meanwhile, in their order, each with its time.
        """
        return _Course(self, rests, ready, times, coming).wait()


class _Course:
    """One play: what is free of each machine at an instant, and what ends when."""

    def __init__(
        self,
        play: ForwardPlay,
        rests: Sequence[float],
        ready: Sequence[float],
        times: Sequence[float],
        coming: Iterator[tuple[Coming, float]],
    ) -> None:
        fleet = play.fleet
        self._shares, self._last = fleet.shares, len(play.needs) - 1
        self._needs, self._times, self._groups = list(play.needs), [*times, math.inf], list(play.groups)
        self._coming = coming
        self._next = next(coming, None)
        self._now = 0.0
        self._free, self._left = list(play.sizes), dict(fleet.limits)
        self._runs: list[list[tuple[float, int, int]]] = [[] for _ in self._free]
        """Of each machine: the latest end, number and eighths of each run, the earliest first."""
        self._ends: list[tuple[float, int]] = []
        self._taken: list[tuple[list[tuple[int, int]], float, Sequence[Hashable], int, Hashable]] = []
        self._waiting: dict[Hashable, list[int]] = {}
        """Those that wait, by queue, each in its order."""
        for number, need in enumerate(play.needs):
            self._waiting.setdefault(need.queue, []).append(number)
        self._used: dict[Hashable, int] = dict.fromkeys(self._waiting, 0)
        self._kept = [list(those) for those in play.kept]
        self._begins = sorted((one.begin, number) for number, those in enumerate(self._kept) for one in those)
        for one, parts, rest in zip(fleet.busy, play.parts, rests, strict=True):
            self._occupy(parts, rest, max(rest, one.longest_rest), one.limits, one.counted_eighths, one.queue)
        for machine, time in zip(fleet.starting, ready, strict=True):
            self._occupy([(machine, play.sizes[machine])], time, time, (), 0, None)

    def _occupy(
        self,
        parts: list[tuple[int, int]],
        end: float,
        latest: float,
        limits: Sequence[Hashable],
        counted: int,
        queue: Hashable,
    ) -> None:
        """Something has so many eighths of each of these machines until it ends."""
        number = len(self._taken)
        self._taken.append((parts, latest, limits, counted, queue))
        self._used[queue] = self._used.get(queue, 0) + counted
        for machine, eighths in parts:
            self._free[machine] -= eighths
            insort(self._runs[machine], (latest, number, eighths))
        for limit in limits:
            if limit in self._left:
                self._left[limit] -= counted
        heappush(self._ends, (end, number))

    def wait(self) -> float:
        """Goes on until the last job starts."""
        while not self._start_some() and (self._ends or self._begins):
            next_times = [one[0][0] for one in (self._ends, self._begins, self._next) if one]
            self._now = max(self._now, min(next_times))
            while self._next and self._next[0].at <= self._now:
                self._come(*self._next)
                self._next = next(self._coming, None)
            while self._ends and self._ends[0][0] <= self._now:
                self._end(heappop(self._ends)[1])
            while self._begins and self._begins[0][0] <= self._now:
                kept = self._kept[self._begins.pop(0)[1]].pop(0)
                eighths = len(kept.gpus) * EIGHTHS_PER_GPU
                end = kept.begin + kept.lasts
                self._occupy([(kept.machine, eighths)], end, end, (), eighths, kept.queue)
        return self._now

    def _come(self, one: Coming, lasts: float) -> None:
        self._waiting.setdefault(one.need.queue, []).append(len(self._needs))
        self._used.setdefault(one.need.queue, 0)
        self._needs.append(one.need)
        self._times.append(lasts)
        self._groups.append(one.groups)

    def _end(self, number: int) -> None:
        parts, latest, limits, counted, queue = self._taken[number]
        self._used[queue] -= counted
        for machine, eighths in parts:
            self._free[machine] += eighths
            self._runs[machine].remove((latest, number, eighths))
        for limit in limits:
            if limit in self._left:
                self._left[limit] += counted

    def _start_some(self) -> bool:
        """Starts all jobs that find room; True if the one that is asked about is among them."""
        held: dict[int, list[_Held]] = {}
        most = max(self._free)
        places = {queue: 0 for queue, those in self._waiting.items() if those}
        turns = [(self._turn(queue, 0), at, queue) for at, queue in enumerate(places)]
        heapify(turns)
        blocked: set[Hashable] = set()
        while turns and most > 0:
            _, at, queue = heappop(turns)
            those = self._waiting[queue]
            number = those[places[queue]]
            need = self._needs[number]
            machines = self._room(number, need, held) if need.eighths <= most and self._may(need) else []
            if machines:
                if number == self._last:
                    return True
                end, latest = self._now + self._times[number], self._now + need.longest
                parts = [(machine, need.eighths) for machine in machines]
                self._occupy(parts, end, max(end, latest), need.limits, need.counted_eighths, queue)
                most = max(self._free)
                del those[places[queue]]
            else:
                places[queue] += 1
                if (
                    queue not in blocked
                    and len(blocked) < MOST_HOLDS
                    and self._is_owed(need, is_alone=len(places) == 1)
                ):
                    blocked.add(queue)
                    self._hold(number, need, held)
            if places[queue] < len(those):
                heappush(turns, (self._turn(queue, places[queue]), at, queue))
        return False

    def _turn(self, queue: Hashable, place: int) -> float:
        """The queue of which the next job would have the smallest part of its share goes first."""
        share = self._shares.get(queue, 0)
        if not share:
            return 0.0
        return (self._used[queue] + self._needs[self._waiting[queue][place]].counted_eighths) / share

    def _is_owed(self, need: Need, *, is_alone: bool) -> bool:
        """True if its queue may have what it takes, so that room is kept for it."""
        if not self._may(need):
            return False
        share = self._shares.get(need.queue)
        return share is None or is_alone or self._used[need.queue] + need.counted_eighths <= share

    def _may(self, need: Need) -> bool:
        return all(self._left.get(limit, need.counted_eighths) >= need.counted_eighths for limit in need.limits)

    def _room(self, number: int, need: Need, held: dict[int, list[_Held]]) -> list[int]:
        """The machines on which it starts now, the fullest; empty if there is no room."""
        end = self._now + need.longest
        for group in self._groups[number]:
            able: list[tuple[int, int]] = []
            for machine in group:
                free = self._free[machine]
                if free >= need.eighths and machine in held:
                    free -= sum(one.eighths for one in held[machine] if one.time < end)
                if free >= need.eighths and self._kept[machine]:
                    free -= self._kept_of(machine, end)
                if free >= need.eighths:
                    able.append((self._free[machine], machine))
            if len(able) >= need.machines:
                return [machine for _, machine in sorted(able)[: need.machines]]
        return []

    def _hold(self, number: int, need: Need, held: dict[int, list[_Held]]) -> None:
        """Keeps what it takes, where that is free first at the latest."""
        best: list[tuple[float, int]] = []
        for group in self._groups[number]:
            times = sorted((self._free_at_last(machine, need), machine) for machine in group)[: need.machines]
            if times[-1][0] < math.inf and (not best or times[-1] < best[-1]):
                best = times
        for _, machine in best:
            kept = min(self._free[machine], need.eighths)
            held.setdefault(machine, []).append(_Held(kept, max(self._now, best[-1][0])))

    def _free_at_last(self, machine: int, need: Need) -> float:
        """When so much is free there at the latest; never, if that is kept for reservations that start later."""
        end = self._now + need.longest
        gpus = {gpu for one in self._kept[machine] if one.begin < end for gpu in one.gpus}
        free = self._free[machine] - len(gpus) * EIGHTHS_PER_GPU
        time = self._now
        for latest, _, more in self._runs[machine]:
            if free >= need.eighths:
                break
            free, time = free + more, latest
        return time if free >= need.eighths else math.inf

    def _kept_of(self, machine: int, end: float) -> int:
        """What has to stay free of a machine for reservations that begin before `end`."""
        near = [one for one in self._kept[machine] if one.begin < end]
        if not near:
            return 0
        gpus = {gpu for one in near for gpu in one.gpus}
        over_by_then = sum(eighths for latest, _, eighths in self._runs[machine] if latest <= near[0].begin)
        return max(0, len(gpus) * EIGHTHS_PER_GPU - over_by_then)


def _by_machine(parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The eighths of each machine, of those of its GPUs."""
    found: dict[int, int] = {}
    for machine, eighths in parts:
        found[machine] = found.get(machine, 0) + eighths
    return list(found.items())
