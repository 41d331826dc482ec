"""Fits waiting work into machines, and lists the machines that are missing.

Work goes first into free slots of ready machines, then into machines on their way. The rest may still be better off in
a queue: a machine in use may finish its job and take the next one before a new machine could be ready. So a machine is
missing only for work that the present machines would not begin before a new one is ready. If the usual times of jobs
and starts are not known, every job without a slot counts.

Work that wants a machine of its own counts on no other one: it gets one that is started for it, and that nobody else
counts on until it has been used.

Work that needs a larger machine than usual gets machines of its own in this count, because such a machine may not be
had while others are. `sizing` lets smaller work use what is left of those that are started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from services.vmpool.machines.machine import ON_THE_WAY, READY, Machine, MachineState, Origin
from services.vmpool.policy.offer_choice import OfferPolicy
from vocabulary import slots

_NO_TIME = timedelta(0)

Work = tuple[tuple[str, ...], int]
"""A kind of waiting work: the GPU types that it may run on, the wanted one first, and the GPUs that each job takes."""
ReservedWork = tuple[tuple[str, ...], int, timedelta]
"""The same of reservations, with their length."""


@dataclass(frozen=True)
class Demand:
    """`jobs` waiting jobs that each want `eighths` in all, of GPUs of that type or of a fallback type.

    More than 8 eighths are whole GPUs of one machine. With an `own_job_id` it is that job alone, and it wants a machine
    that is started for it. With a `longest_time` it is reservations of that length, which need machines that last.
    """

    gpu_type: str
    eighths: int
    jobs: int
    fallback_gpu_types: tuple[str, ...] = ()
    own_job_id: str = ""
    longest_time: timedelta = _NO_TIME

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The GPU types that the work may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)

    @property
    def gpus(self) -> int:
        """The number of GPUs that one of the jobs takes; 1 also if it takes less than a GPU."""
        return slots.gpus_for(self.eighths)


@dataclass(frozen=True)
class Wish:
    """A missing machine, of the first of these GPU types that can be had.

    `jobs` are the sizes of the jobs for it, in eighths, the largest first. `own` is the demand of the job that wants it
    for itself. With a `longest_time` it is for reservations of that length. `others` are the wishes of jobs that have
    room on this machine, too, and take other GPU types if it cannot be had.
    """

    gpu_types: tuple[str, ...]
    origin: Origin = Origin.DEMAND
    jobs: tuple[int, ...] = (slots.EIGHTHS_PER_GPU,)
    own: Demand | None = None
    longest_time: timedelta = _NO_TIME
    others: tuple[Wish, ...] = ()

    @property
    def job_gpus(self) -> tuple[int, ...]:
        """The numbers of GPUs of its jobs, the highest first."""
        return tuple(sorted({slots.gpus_for(eighths) for eighths in self.jobs}, reverse=True))

    @property
    def work(self) -> tuple[Work, ...]:
        """The kinds of work that wait for it; none if it is for one job, or for reservations."""
        return () if self.own or self.longest_time else tuple((self.gpu_types, gpus) for gpus in self.job_gpus)

    @property
    def reserved_work(self) -> tuple[ReservedWork, ...]:
        """The kinds of reservations that wait for it."""
        if self.own or not self.longest_time:
            return ()
        return tuple((self.gpu_types, gpus, self.longest_time) for gpus in self.job_gpus)


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
class _Bin:
    """A machine to fill: an existing one with its id, or a wished one that takes only work for machines of its size.

    An existing one `lasts` for so long, None for ever; a wished one takes only work of the same `longest_time`.
    """

    gpu_type: str
    occupied: tuple[int, ...]
    machine_id: str = ""
    eighths_in_turn: int = 0
    lasts: timedelta | None = None
    longest_time: timedelta = _NO_TIME
    jobs: dict[tuple[str, ...], list[int]] = field(default_factory=dict[tuple[str, ...], list[int]])
    """The sizes of the jobs for it, in eighths, by the GPU types that they take."""

    @property
    def gpu_count(self) -> int:
        return len(self.occupied)

    def suits(self, demand: Demand) -> bool:
        """True if it is or will be there for as long as the work takes."""
        if not self.machine_id:
            return self.longest_time == demand.longest_time
        return self.lasts is None or demand.longest_time <= self.lasts

    def take(self, demand: Demand) -> bool:
        free = slots.free_slots(self.occupied, demand.eighths)
        if free:
            self.occupied = slots.taken(self.occupied, free)
            self.jobs.setdefault(demand.gpu_types, []).append(demand.eighths)
        return bool(free)

    def take_in_turn(self, eighths: int) -> bool:
        fits = eighths <= min(self.eighths_in_turn, self.gpu_count * slots.EIGHTHS_PER_GPU)
        self.eighths_in_turn -= eighths * fits
        return fits


@dataclass
class Packing:
    """Fills machines: keeps the free slots of each, and the eighths that come free in time."""

    policy: OfferPolicy
    used: set[str] = field(default_factory=set[str])
    reserved: dict[str, timedelta] = field(default_factory=dict[str, timedelta])
    _present: list[_Bin] = field(default_factory=list[_Bin])
    _wished: list[_Bin] = field(default_factory=list[_Bin])

    @property
    def wishes(self) -> tuple[Wish, ...]:
        """The machines that are going to be asked for."""
        return tuple(map(_wish_of, self._wished))

    @property
    def wish_count(self) -> int:
        """The number of machines that are going to be asked for."""
        return len(self._wished)

    def left_for_smaller(self, gpus: int) -> int:
        """The free GPUs of wished machines that are larger than those for work on so many GPUs."""
        usual = self.policy.gpu_count_for(gpus)
        return sum(made.occupied.count(0) for made in self._wished if made.gpu_count > usual)

    def add(self, machine: Machine, turns: int, now: datetime) -> None:
        """Add an existing machine, each of whose eighths can take `turns` more jobs in time."""
        in_turn = turns * machine.gpu_count * slots.EIGHTHS_PER_GPU
        lasts = machine.life_end - now if machine.life_end else None
        self._present.append(_Bin(machine.gpu_type, machine.occupied, machine.machine_id, in_turn, lasts))

    def wish_for(self, demand: Demand) -> None:
        """Add a machine that is going to be asked for, with one job of that kind."""
        free = (0,) * self.policy.gpu_count_for(demand.gpus)
        made = _Bin(demand.gpu_type, free, longest_time=demand.longest_time)
        made.take(demand)
        self._wished.append(made)

    def fit_now(self, demand: Demand) -> bool:
        """Place one job of that kind in free slots; True if there was room."""
        gpu_count = self.policy.gpu_count_for(demand.gpus)
        wished = [made for made in self._wished if made.gpu_count == gpu_count]
        for wanted in demand.gpu_types:
            for place in (*self._present, *wished):
                if place.gpu_type == wanted and place.suits(demand) and place.take(demand):
                    self._note_use(place, demand)
                    return True
        return False

    def fit_in_turn(self, demand: Demand) -> bool:
        """Place one job of that kind on a machine that can begin it in time; True if there was one."""
        return any(
            place.take_in_turn(demand.eighths)
            for wanted in demand.gpu_types
            for place in self._present
            if place.gpu_type == wanted and place.suits(demand)
        )

    def _note_use(self, place: _Bin, demand: Demand) -> None:
        if not place.machine_id:
            return
        self.used.add(place.machine_id)
        if demand.longest_time:
            longest = max(demand.longest_time, self.reserved.get(place.machine_id, _NO_TIME))
            self.reserved[place.machine_id] = longest


def _wish_of(made: _Bin) -> Wish:
    """The wish of the jobs that a machine was wished for, with those of the jobs that found room there."""
    first, *others = [
        Wish(gpu_types, jobs=tuple(sorted(jobs, reverse=True)), longest_time=made.longest_time)
        for gpu_types, jobs in made.jobs.items()
    ]
    return replace(first, others=tuple(others))


@dataclass(frozen=True)
class Missing:
    """The missing machines, and the ids of the machines that are to serve the waiting work.

    `reserved` has the longest reservation that waits for each of those that are to serve reservations.
    """

    wishes: tuple[Wish, ...] = ()
    used: frozenset[str] = frozenset()
    reserved: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])


@dataclass(frozen=True)
class PackingRules:
    """`policy` has the sizes of new machines. After `most_wishes`, each kind of work gets only one more wish."""

    policy: OfferPolicy = field(default_factory=OfferPolicy)
    most_wishes: int = 100


def machines_missing(
    demands: Sequence[Demand],
    machines: Sequence[Machine],
    paces: Mapping[str, Pace],
    rules: PackingRules,
    now: datetime,
) -> Missing:
    """The machines that the waiting work needs besides the existing ones."""
    packing = Packing(rules.policy)
    own = {demand.own_job_id: demand for demand in demands if demand.own_job_id}
    served = {machine.own_job_id: machine for machine in machines if _is_kept(machine, own)}
    packing.used |= {machine.machine_id for machine in served.values()}
    for machine in machines:
        if machine.state in READY | ON_THE_WAY and not _is_kept(machine, own):
            packing.add(machine, _turns(machine, paces.get(machine.gpu_type, Pace()), now), now)
    # Large jobs first, because they find the fewest places.
    usual = [demand for demand in demands if not demand.own_job_id]
    for demand in sorted(usual, key=lambda demand: -demand.eighths):
        # One of each kind in any case, so that each learns of its obstacle. Those that larger machines may have room
        # for count beside the others.
        most = max(rules.most_wishes + packing.left_for_smaller(demand.gpus), packing.wish_count + 1)
        has_room = True
        for _ in range(demand.jobs):
            has_room = has_room and packing.fit_now(demand)
            if has_room or packing.fit_in_turn(demand):
                continue
            if packing.wish_count >= most:
                break
            packing.wish_for(demand)
            has_room = True
    missing = [demand for job_id, demand in own.items() if job_id not in served]
    wishes = [Wish(one.gpu_types, jobs=(one.eighths,), own=one, longest_time=one.longest_time) for one in missing]
    return Missing((*packing.wishes, *wishes), frozenset(packing.used), packing.reserved)


def _is_kept(machine: Machine, own: Mapping[str, Demand]) -> bool:
    """True if it was started for one of these jobs, which has yet to use it."""
    return machine.state in READY | ON_THE_WAY and machine.own_job_id in own and machine.is_unused


def _turns(machine: Machine, pace: Pace, now: datetime) -> int:
    start = pace.start_time or _NO_TIME
    if machine.reservation_ids:
        # Nobody knows how long a reservation goes on.
        return 0
    if machine.state in READY:
        return pace.jobs_in_turn(start - _overdue(machine, pace, now))
    ready_in = max(_NO_TIME, machine.create_time + start - now)
    return pace.jobs_in_turn(start - ready_in)


def _overdue(machine: Machine, pace: Pace, now: datetime) -> timedelta:
    """Time by which its present job has exceeded the usual one; the job may go on for as long again."""
    if machine.state is not MachineState.BUSY or not pace.job_time or machine.last_used_time is None:
        return _NO_TIME
    return max(_NO_TIME, now - machine.last_used_time - pace.job_time)
