"""Whether reservations that start later fit on the machines, beside each other and what runs; pure.

A reservation takes a number of GPUs of one machine, or of each of several machines, for a half-open time [begin, end):
one may begin at the instant at which another one ends. Reservations that wait have no machine yet, so all that overlap
are given machines together: a new one fits if there is any way to place it and the others. Looked at in the order in
which they begin, they fit on a machine as long as enough of its GPUs are free at each begin, and which of the free ones
does not matter.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from services.scheduler.fleet.machine import Machine

MOST_TRIES = 1_000
"""So often a search goes back before a reservation counts as one that does not fit; few are enough in practice."""


class Booking(NamedTuple):
    """GPUs of a machine, or of each of `machines`, for the time from `begin` until just before `end`."""

    booking_id: str
    gpus: int
    begin: datetime
    end: datetime
    machines: int = 1

    @property
    def gpus_in_all(self) -> int:
        """The GPUs of all its machines."""
        return self.gpus * self.machines

    def overlaps(self, begin: datetime, end: datetime) -> bool:
        """True if it has an instant of [begin, end)."""
        return self.begin < end and begin < self.end

    def moved_to(self, begin: datetime) -> Booking:
        """The same time from another instant on."""
        return self._replace(begin=begin, end=begin + (self.end - self.begin))


class Seat(NamedTuple):
    """The GPUs of a machine that a booking is to get, and from when on at the latest."""

    booking_id: str
    machine_id: str
    gpus: tuple[int, ...]
    begin: datetime
    """The begin of the booking; later if there is no room for it by then."""


@dataclass(frozen=True)
class Calendar:
    """The machines of one GPU type, and the reservations of it that have yet to start, the first to be made first."""

    machines: Sequence[Machine]
    bookings: Sequence[Booking] = ()
    most_gpus: int | None = None
    """All bookings together have so many GPUs at most, at any instant; None for no such limit."""
    soon: datetime | None = None
    """Those that begin later go to machines that the pool has yet to start, if they can: what is there is free for
    others until then. None: all go to those that are there, if they can."""

    def fits(self, asked: Booking) -> bool:
        """True if all can be honoured with this one."""
        return self._fits(asked, _Tries())

    def nearest_start(self, asked: Booking, latest: datetime) -> datetime | None:
        """The first instant from its begin to `latest` at which it fits; None if there is none."""
        # What keeps it out can only go away at the end of something.
        ends = {one.end for one in self.bookings} | {use.end for machine in self.machines for use in machine.uses}
        tried, tries = [asked.begin, *sorted(end for end in ends if asked.begin < end)], _Tries()
        return next((begin for begin in tried if begin <= latest and self._fits(asked.moved_to(begin), tries)), None)

    def in_the_way(self, asked: Booking) -> list[str]:
        """The bookings and the users of GPUs that overlap it, the first to begin first."""
        using = {use.user_id: None for machine in self.machines for use in machine.uses if use.end > asked.begin}
        booked = sorted((one for one in self.bookings if one.overlaps(asked.begin, asked.end)), key=_by_begin)
        return [*using, *(one.booking_id for one in booked)]

    def free_gpus(self, asked: Booking) -> int:
        """GPUs that nobody has at any instant of its time, on all machines together."""
        instants = [asked.begin, *(one.begin for one in self.bookings if asked.begin < one.begin < asked.end)]
        return max(0, min(map(self._free_at, instants)))

    def longest_end(self, user_id: str, wanted: datetime) -> datetime:
        """The last end, until `wanted`, that a running job or reservation may have; that of now if it may not go on.

        What cannot be honoured anyway, because a machine was lost, keeps nobody from going on.
        """
        now_has = [use.end for machine in self.machines for use in machine.uses if use.user_id == user_id]
        present, tries = max(now_has, default=wanted), _Tries()
        begins = {one.booking_id: one.begin for one in self.bookings}
        planned = dict.fromkeys(one for those in self._plan.values() for one in those)
        honoured = [one for one in planned if one.begin == begins[one.booking_id]]
        # More time can only be too much from the begin of a booking on, and then all more is.
        ends = sorted({wanted, *(one.begin for one in honoured if present < one.begin < wanted)})
        found = bisect_left(ends, True, key=lambda end: not self._can_last(user_id, end, honoured, tries))
        return max(present, ends[found - 1]) if found else present

    def seats(self, preferred: Mapping[str, Collection[str]] | None = None) -> list[Seat]:
        """The GPUs of all bookings, those that begin first first; `preferred` has the machines that they had before.

        One of several machines has a seat on each.

        Those that cannot be honoured, because machines were lost, have the first GPUs that are free after the others.
        """
        plan = self._planned(preferred) if preferred else self._plan
        machines = {machine.machine_id: machine for machine in self.machines}
        found = [seat for name, those in plan.items() for seat in _seated(machines[name], those)]
        return sorted(found, key=lambda seat: (seat.begin, seat.booking_id))

    def _fits(self, asked: Booking, tries: _Tries) -> bool:
        if not self._is_within_most(asked) or self.free_gpus(asked) < asked.gpus_in_all:
            return False
        # Most fit beside the others as they are, or not at all; else the others may have to go elsewhere.
        with_room = sum(_has_room(machine, self._plan[machine.machine_id], asked) for machine in self.machines)
        if with_room >= asked.machines:
            return True
        linked = [*_linked(asked, self.bookings), asked]
        return _Search(self.machines, linked, {}, None, tries).run() is not None

    def _can_last(self, user_id: str, end: datetime, honoured: Sequence[Booking], tries: _Tries) -> bool:
        """True if all can be honoured if what runs lasts so long."""
        machines = [_prolonged(machine, user_id, end) for machine in self.machines]
        changed = [new for new, old in zip(machines, self.machines, strict=True) if new is not old]
        plan = {name: [one for one in those if one in honoured] for name, those in self._plan.items()}
        if all(_is_kept(machine, plan[machine.machine_id]) for machine in changed):
            return True
        return _Search(machines, honoured, {}, None, tries).run() is not None

    @cached_property
    def _plan(self) -> Mapping[str, list[Booking]]:
        """The bookings by machine, as they are without any wish; some begin later than they should."""
        return self._planned({})

    def _planned(self, preferred: Mapping[str, Collection[str]]) -> Mapping[str, list[Booking]]:
        found = _Search(self.machines, self.bookings, preferred, self.soon, _Tries()).run()
        return self._as_possible(preferred) if found is None else found

    def _as_possible(self, preferred: Mapping[str, Collection[str]]) -> Mapping[str, list[Booking]]:
        """As many as can be have GPUs at their begin, and the others later; those that are too large have none."""
        plan: dict[str, list[Booking]] = {machine.machine_id: [] for machine in self.machines}
        late: list[Booking] = []
        for one in sorted(self.bookings, key=_by_begin):
            able = self._with_room(plan, one, preferred.get(one.booking_id, ()))
            late += [] if able else [one]
            for machine in able:
                plan[machine.machine_id].append(one)
        for one in late:
            ends = {busy for machine in self.machines for busy in machine.busy_until.values()}
            ends |= {there.end for those in plan.values() for there in those}
            tried = (one.moved_to(begin) for begin in [one.begin, *sorted(end for end in ends if end > one.begin)])
            found = ((moved, self._with_room(plan, moved, ())) for moved in tried)
            moved, able = next(((moved, able) for moved, able in found if able), (one, ()))
            for machine in able:
                plan[machine.machine_id].append(moved)
        return plan

    def _with_room(
        self, plan: Mapping[str, Sequence[Booking]], asked: Booking, preferred: Collection[str]
    ) -> Sequence[Machine]:
        """Machines that can take it beside what is planned, those that are preferred first; none if too few can."""
        able = [machine for machine in self.machines if _has_room(machine, plan[machine.machine_id], asked)]
        able.sort(key=lambda machine: machine.machine_id not in preferred)
        return next(_ways([[machine] for machine in able], asked.machines), ())

    def _free_at(self, instant: datetime) -> int:
        in_use = sum(machine.busy_at(instant) for machine in self.machines)
        booked = sum(one.gpus_in_all for one in self.bookings if one.begin <= instant < one.end)
        return sum(machine.gpus for machine in self.machines) - in_use - booked

    def _is_within_most(self, asked: Booking) -> bool:
        if self.most_gpus is None:
            return True
        instants = [asked.begin, *(one.begin for one in self.bookings if asked.begin < one.begin < asked.end)]
        booked = max(sum(one.gpus_in_all for one in self.bookings if one.begin <= at < one.end) for at in instants)
        return booked + asked.gpus_in_all <= self.most_gpus


def _by_begin(one: Booking) -> tuple[datetime, int, str]:
    """The larger of two that begin together first: small ones find room where large ones do not."""
    return one.begin, -one.gpus_in_all, one.booking_id


def _linked(asked: Booking, bookings: Iterable[Booking]) -> list[Booking]:
    """Those that overlap it, or one that does, and so on: where the others go has no say in where it may."""
    found: list[Booking] = []
    left: list[Booking] = list(bookings)
    begin, end = asked.begin, asked.end
    while True:
        near: list[Booking] = [one for one in left if one.overlaps(begin, end)]
        if not near:
            return found
        found += near
        left = [one for one in left if one not in near]
        begin, end = min(begin, *(one.begin for one in near)), max(end, *(one.end for one in near))
    return found


def _prolonged(machine: Machine, user_id: str, end: datetime) -> Machine:
    """The machine, if what runs lasts until then; the same one if that is not there."""
    if all(use.user_id != user_id for use in machine.uses):
        return machine
    uses = tuple(use._replace(end=max(use.end, end)) if use.user_id == user_id else use for use in machine.uses)
    return replace(machine, uses=uses)


def _has_room(machine: Machine, there: Iterable[Booking], asked: Booking) -> bool:
    """True if the machine can take it beside those that are there."""
    near = [one for one in there if one.overlaps(asked.begin, asked.end)]
    instants = [asked.begin, *(one.begin for one in near if one.begin > asked.begin)]
    return all(_taken_at(machine, near, instant) + asked.gpus <= machine.gpus for instant in instants)


def _is_kept(machine: Machine, there: Sequence[Booking]) -> bool:
    """True if the machine has room for all that are there."""
    return all(_taken_at(machine, there, one.begin) <= machine.gpus for one in there)


def _taken_at(machine: Machine, there: Iterable[Booking], instant: datetime) -> int:
    return machine.busy_at(instant) + sum(one.gpus for one in there if one.begin <= instant < one.end)


class _Tries:
    """How many placements may still be tried."""

    def __init__(self) -> None:
        self.left = MOST_TRIES


def _ways(kinds: Sequence[Sequence[Machine]], number: int) -> Iterator[tuple[Machine, ...]]:
    """All ways to take so many machines that differ, in the order in which they are tried: those of one site first.

    Machines of one kind do not differ for a booking.
    """
    if number == 1:
        yield from ((machines[0],) for machines in kinds)
        return
    by_site: defaultdict[tuple[str, ...], list[Sequence[Machine]]] = defaultdict(list)
    for machines in kinds:
        by_site[machines[0].site].append(machines)
    for those in by_site.values():
        yield from _combinations(those, number)
    for way in _combinations(kinds, number):
        if any(machine.site != way[0].site for machine in way):
            yield way


def _combinations(kinds: Sequence[Sequence[Machine]], number: int) -> Iterator[tuple[Machine, ...]]:
    """So many machines, as many of each kind as possible first, and each number of a kind once."""
    if not number:
        yield ()
        return
    if sum(map(len, kinds)) < number:
        return
    machines, *rest = kinds
    for taken in range(min(number, len(machines)), -1, -1):
        for others in _combinations(rest, number - taken):
            yield (*machines[:taken], *others)


class _Search:
    """Tries the machines for one booking after the other, and goes back to another one if a later booking has none."""

    def __init__(
        self,
        machines: Sequence[Machine],
        bookings: Iterable[Booking],
        preferred: Mapping[str, Collection[str]],
        soon: datetime | None,
        tries: _Tries,
    ) -> None:
        self._machines = machines
        self._in_order = sorted(bookings, key=_by_begin)
        self._preferred = preferred
        self._soon = soon
        self._on: dict[str, list[Booking]] = {machine.machine_id: [] for machine in machines}
        self._tries = tries

    def run(self) -> Mapping[str, list[Booking]] | None:
        """The bookings by machine, so that all fit; None if no way was found."""
        # Not recursive: there may be more bookings than Python has frames for.
        choices: list[Iterator[tuple[Machine, ...]]] = []
        chosen: list[tuple[Machine, ...]] = []
        while len(chosen) < len(self._in_order):
            choices.append(_ways(self._able(self._in_order[len(chosen)]), self._in_order[len(chosen)].machines))
            while (way := next(choices[-1], None)) is None:
                self._tries.left -= 1
                choices.pop()
                if not choices or self._tries.left <= 0:
                    return None
                for machine in chosen.pop():
                    self._on[machine.machine_id].pop()
            for machine in way:
                self._on[machine.machine_id].append(self._in_order[len(chosen)])
            chosen.append(way)
        return self._on

    def _able(self, booking: Booking) -> list[list[Machine]]:
        """The machines with room, those together that do not differ, in the order in which they are tried."""
        found: defaultdict[object, list[Machine]] = defaultdict(list)
        wanted = self._preferred.get(booking.booking_id, ())
        is_far = self._soon is not None and booking.begin > self._soon
        for machine in sorted(self._machines, key=lambda one: (one.machine_id not in wanted, one.is_known == is_far)):
            later = sorted((one.end, one.gpus) for one in self._on[machine.machine_id] if one.end > booking.begin)
            in_use = sorted(until for until in machine.busy_until.values() if until > booking.begin)
            if machine.gpus - len(in_use) - sum(gpus for _, gpus in later) >= booking.gpus:
                of_several = (machine.machine_id in wanted, machine.site) if booking.machines > 1 else ()
                found[machine.gpus, tuple(later), tuple(in_use), of_several].append(machine)
        return list(found.values())


def _seated(machine: Machine, bookings: Iterable[Booking]) -> list[Seat]:
    """Gives bookings that fit on a machine their GPUs: those that were used last, so that others stay free for long."""
    free_from: dict[int, datetime] = dict(machine.busy_until)
    seats: list[Seat] = []
    for one in sorted(bookings, key=_by_begin):
        able = [gpu for gpu in range(machine.gpus) if gpu not in free_from or free_from[gpu] <= one.begin]
        used = sorted((gpu for gpu in able if gpu in free_from), key=lambda gpu: (free_from[gpu], -gpu), reverse=True)
        gpus = [*used, *(gpu for gpu in able if gpu not in free_from)][: one.gpus]
        free_from |= dict.fromkeys(gpus, one.end)
        seats.append(Seat(one.booking_id, machine.machine_id, tuple(sorted(gpus)), one.begin))
    return seats
