"""The reservations that start later, and what is kept free for them on the machines as this scheduler knows them.

They are read from the rows at start, as waiting jobs are. Nothing here is stored: it follows from rows, machines and
what runs there. All that wants GPUs asks here first: a reservation for later, more time for one that runs, and each
job before it starts, whose end says if it may have GPUs that somebody is to have.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from servicekit.clock import Clock
from services.scheduler.fleet.fleet import Fleet
from services.scheduler.fleet.machine import COMING, GIVING_BACK, Machine, Promise, Use
from services.scheduler.jobs.availability import CalendarEntry
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation import GRACE
from services.scheduler.jobs.reservation_calendar import Booking, Calendar, Seat
from services.scheduler.jobs.spec import Lease, Placement
from services.scheduler.peers.pool import PoolLimits
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineOffer, MachineStage
from services.scheduler.queue.running import RunningJobs, slots_by_machine
from services.scheduler.queue.waiting import Lane, WaitingJobs
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

USUAL_PREPARING = timedelta(minutes=1)
"""Time between the GPUs of a reservation and the begin of its own time, as far as others count on its end."""
STEP_SECONDS = 10
SOON = timedelta(minutes=30)
"""Those that begin later count on machines that the pool has yet to start, rather than keep one that is there."""


class DatedBook:
    """Dated reservations that have no machine yet; `share` of the GPUs is the most that they may have together."""

    def __init__(
        self,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        clock: Clock,
        longest_run: timedelta,
        share: float = 1.0,
    ) -> None:
        self._waiting = waiting
        self._running = running
        self._inventory = inventory
        self._clock = clock
        self._longest_run = longest_run
        self._share = share
        self._pending: dict[str, Job] = {}
        self._starting: dict[str, tuple[Job, Sequence[Placement]]] = {}
        self._prolonged: dict[str, datetime] = {}
        self._machines: dict[str, frozenset[str]] = {}
        self._last: dict[str, tuple[Calendar, list[Seat]]] = {}
        """The last calendar of each GPU type, as a pass asks for the same several times."""
        self.limits = PoolLimits()
        self.is_loaded = False
        """True once all rows have been read: before that, nothing is promised and nothing starts."""

    def put(self, job: Job) -> None:
        """Adds a reservation that starts later, or updates it."""
        self._pending[job.job_id] = job

    def remove(self, job_id: str) -> None:
        """Removes a reservation that is due or over; one that is not here changes nothing."""
        self._pending.pop(job_id, None)

    def get(self, job_id: str) -> Job | None:
        """The reservation, if its start is far off or it is being made."""
        return self._pending.get(job_id)

    def pending(self) -> Collection[Job]:
        """Those whose start is far off, and those that are being made."""
        return self._pending.values()

    def jobs(self) -> list[Job]:
        """All that have no machine yet."""
        return [*self._pending.values(), *self._waiting.dated.values()]

    @contextmanager
    def starting(self, job: Job, placements: Sequence[Placement]) -> Generator[None]:
        """Counts these slots as the job's, while the pool is asked for them."""
        if not placements:
            yield
            return
        self._starting[job.job_id] = (job, placements)
        try:
            yield
        finally:
            del self._starting[job.job_id]

    def being_started(self) -> list[Placement]:
        """The slots that the pool is being asked for."""
        return [there for _, placements in self._starting.values() for there in placements]

    @contextmanager
    def prolonging(self, job_id: str, more: timedelta) -> Generator[None]:
        """Counts so much more time as a running reservation's, while it is being given that."""
        job = self._running_job(job_id)
        if job is None or job_id in self._prolonged:
            yield
            return
        self._prolonged[job_id] = self._end_of(job) + more
        try:
            yield
        finally:
            del self._prolonged[job_id]

    def calendar(self, gpu_type: str) -> Calendar:
        """The calendar of a GPU type."""
        machines = tuple(self._machines_of(gpu_type))
        gpus = sum(machine.gpus for machine in machines)
        bookings = [self.booking(job) for job in self.jobs() if job.spec.gpu_type == gpu_type]
        present = tuple(one for one in bookings if one.begin < one.end)
        return Calendar(machines, present, math.ceil(self._share * gpus), self._now() + SOON)

    def fleet(self, gpu_type: str) -> Fleet:
        """The machines of a GPU type, with what runs there, and what is promised to reservations that start later."""
        calendar = self.calendar(gpu_type)
        ends = {booking.booking_id: booking.end for booking in calendar.bookings}
        promised: defaultdict[str, list[Promise]] = defaultdict(list)
        for seat in self.seats(gpu_type):
            own = Promise(seat.booking_id, seat.gpus, seat.begin, ends[seat.booking_id])
            promised[seat.machine_id].append(own)
        machines = [replace(one, promised=tuple(promised[one.machine_id])) for one in calendar.machines]
        return Fleet(machines, self._clock.now())

    def booking(self, job: Job) -> Booking:
        """The time of a dated reservation that has no machine yet; one that is late takes what is left of its time."""
        reservation = job.reserved
        begin = reservation.start_time or job.create_time
        end = begin + reservation.total
        return Booking(job.job_id, job.spec.resources.gpus, max(begin, self._now()), end, job.spec.machines)

    def seats(self, gpu_type: str) -> list[Seat]:
        """The GPUs that each of them is to get, machine by machine."""
        if not any(job.spec.gpu_type == gpu_type for job in self.jobs()):
            return []
        calendar = self.calendar(gpu_type)
        last = self._last.get(gpu_type)
        if last and last[0] == calendar:
            return last[1]
        seats = calendar.seats(self._machines)
        self._last[gpu_type] = calendar, seats
        present = {job.job_id for job in self.jobs() if job.spec.gpu_type != gpu_type}
        names = defaultdict[str, set[str]](set)
        for one in seats:
            if self._is_known(one):
                names[one.booking_id].add(one.machine_id)
        others = {job_id: those for job_id, those in self._machines.items() if job_id in present}
        self._machines = others | {job_id: frozenset(those) for job_id, those in names.items()}
        return seats

    def _is_known(self, seat: Seat) -> bool:
        """True if the machine is there, and not one that the pool has yet to start."""
        return any(offer.machine_id == seat.machine_id for offer in self._inventory.offers())

    def placements(self, job: Job) -> Sequence[Placement]:
        """Where a reservation that is due starts now, on all its machines; empty if its GPUs are not all free yet.

        Its own seats come first, then GPUs that nobody else is to have before it ends.
        """
        gpu_type = job.spec.gpu_type
        seats = self.seats(gpu_type)
        own = {seat.machine_id: seat for seat in seats if seat.booking_id == job.job_id}
        held = self.held()
        offers = [one for one in self._inventory.offers() if one.gpu_type == gpu_type]
        sites = {offer.site for offer in offers if offer.machine_id in own}
        found: list[Placement] = []
        for offer in sorted(offers, key=lambda offer: (offer.machine_id not in own, offer.site not in sites)):
            if offer.stage is not MachineStage.READY or not offer.is_for(job.own_job_id, self._waiting):
                continue
            others = [seat for seat in seats if seat.machine_id == offer.machine_id and seat.booking_id != job.job_id]
            slots = self._slots_on(offer, job, own.get(offer.machine_id), others, held[offer.machine_id])
            found += [Placement(offer.machine_id, slots)] if slots else []
            if len(found) == job.spec.machines:
                return found
        return ()

    def _slots_on(
        self, offer: MachineOffer, job: Job, own: Seat | None, others: Iterable[Seat], held: Sequence[Slot]
    ) -> tuple[Slot, ...]:
        """What a reservation gets of a machine now; empty if that has not so much for it."""
        end = self.booking(job).end
        earlier = {
            gpu
            for seat in others
            for gpu in seat.gpus
            if seat.begin < end and (own is None or gpu not in own.gpus or seat.begin <= own.begin)
        }
        away = [Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in earlier]
        seat_only = [
            Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in range(len(offer.free_masks)) if own and gpu not in own.gpus
        ]
        tried = (offer.slots_for(job.spec.resources, [*held, *away, *more]) for more in (seat_only, []))
        return next(filter(None, tried), ())

    def held(self) -> defaultdict[str, list[Slot]]:
        """The slots that our jobs have or that the pool is being asked for, by machine."""
        held = slots_by_machine(self._running.jobs())
        for there in self.being_started():
            held[there.machine_id] += there.slots
        return held

    def may_take_any(self, job: Job) -> bool:
        """True if a job that starts now on any machine of its type is over before any of them begins."""
        end = self._clock.now() + self.longest_use(job)
        ahead = (self.booking(one).begin for one in self.jobs() if one.spec.gpu_type in job.spec.gpu_types)
        return all(end <= begin for begin in ahead)

    def first_start(self, job: Job, begin: datetime) -> datetime | None:
        """When a job that others would let start at `begin` can start, beside what is kept for later; None if never.

        Who asks counts what runs now by itself. A job for which several GPU types will do is in nobody's way.
        """
        end = begin + self.longest_use(job)
        asked = Booking(job.job_id, max(1, job.spec.resources.gpus), begin, end, job.spec.machines)
        gpu_type = job.spec.gpu_type
        bookings = [self.booking(one) for one in self.jobs() if one.spec.gpu_type == gpu_type]
        if job.spec.fallback_gpu_types or not any(one.overlaps(asked.begin, asked.end) for one in bookings):
            return begin
        machines = [replace(machine, uses=()) for machine in self._machines_of(gpu_type)]
        return Calendar(machines, bookings).nearest_start(asked, max(one.end for one in bookings))

    def has_time(self, lane: Lane) -> bool:
        """False if a machine that the pool starts now is to go to others before a job of the lane would have ended.

        In doubt it is True: also if machines of other types may give way, which the calendar does not count on, or if
        one is due, as that may never have its machines.
        """
        gpu_type, ahead, dated = lane.gpu_types[0], self.jobs(), self._waiting.dated.values()
        others = any(one.is_idle and one.gpu_type != gpu_type for one in self._inventory.offers())
        is_open = not self.limits.machines or all(one.spec.gpu_type != gpu_type for one in ahead)
        if others or is_open or any(one.spec.gpu_type == gpu_type for one in dated):
            return True
        begin, jobs = self._now() + COMING, self._waiting.first(lane, self._waiting.lanes()[lane])
        return self.first_start(min(jobs, key=self.longest_use), begin) == begin

    def longest_use(self, job: Job) -> timedelta:
        """For how long a job has its GPUs if it starts now, as far as others count on its end."""
        return job.spec.longest_run(self._longest_run) + (USUAL_PREPARING if job.reservation else timedelta(0))

    def longest_extension(self, job: Job, wanted: timedelta) -> timedelta:
        """How much more time a running reservation may have, until `wanted`, before somebody else needs its GPUs."""
        present = self._running_job(job.job_id)
        if present is None:
            return wanted
        end = self._end_of(present)
        calendar = self.calendar(present.machine_gpu_type or present.spec.gpu_type)
        return calendar.longest_end(job.job_id, end + wanted) - end

    def names_of(self, ids: Iterable[str], account_id: str) -> tuple[list[str], int]:
        """What an account may read of these jobs and reservations: those of its own, and the number of the others."""
        known = {job.job_id: job for job in [*self.jobs(), *self._running.jobs()]}
        own = [known[one] for one in ids if one in known and known[one].account_id == account_id]
        texts = [f"{job.job_id} ({job.reservation.name})" if job.reservation else job.job_id for job in own]
        return texts, len([one for one in ids if one in known]) - len(own)

    def uses(self, gpu_type: str) -> list[tuple[Job, datetime, datetime]]:
        """The reservations of a type with the time in which they have GPUs, those that are being made, too."""
        return [
            *((one.job, one.begin, one.end) for one in self.entries(gpu_type) if one.job.machine_gpu_type),
            *((one, *self.booking(one)[2:4]) for one in self.jobs() if one.spec.gpu_type == gpu_type),
        ]

    def entries(self, gpu_type: str) -> list[CalendarEntry]:
        """The reservations of a type that have GPUs, or are to have them."""
        having = [
            CalendarEntry(job, job.start_time or job.create_time, self._end_of(job), _machine_ids(job.leases))
            for job in self._running.jobs()
            if job.reservation and job.machine_gpu_type == gpu_type
        ]
        seats = defaultdict[str, list[Seat]](list)
        for seat in self.seats(gpu_type):
            seats[seat.booking_id].append(seat)
        for job in self.jobs():
            if job.spec.gpu_type != gpu_type or not job.hold_id:
                continue
            begin, own = job.reserved.start_time or job.create_time, seats[job.job_id]
            known = _machine_ids(own) if all(map(self._is_known, own)) else ()
            is_late = not own or own[0].begin > max(begin, self._clock.now())
            having.append(CalendarEntry(job, begin, begin + job.reserved.total, known, is_late=is_late))
        return having

    def _running_job(self, job_id: str) -> Job | None:
        return next((job for job in self._running.jobs() if job.job_id == job_id), None)

    def _machines_of(self, gpu_type: str) -> list[Machine]:
        """Those that are there, the oldest first, and those that the pool could start beside them."""
        users = [(job, job.leases) for job in self._running.jobs()]
        uses: defaultdict[str, list[Use]] = defaultdict(list)
        for job, those in [*users, *self._starting.values()]:
            for one in those:
                uses[one.machine_id] += (Use(job.job_id, slot, self._end_of(job)) for slot in one.slots)
        offers = sorted(self._inventory.offers(), key=lambda offer: (offer.create_time, offer.machine_id))
        there = [
            offer.machine_id
            for offer in offers
            if offer.gpu_type == gpu_type and offer.stage is not MachineStage.CLOSED and offer.is_for("", self._waiting)
        ]
        found = [self._inventory.machine(name, (use.slot for use in uses[name]), uses[name]) for name in there]
        more = max(0, self.limits.machines - len(offers))
        return found + [Machine(f"new machine {number}", self.limits.gpus, is_known=False) for number in range(more)]

    def room(self, gpu_types: Collection[str]) -> int:
        """How many machines of these types the pool may still start, after those that wait for other types.

        Idle machines of other types give way.
        """
        wanted = set(gpu_types)
        unpaid = self.limits.never_paid
        if not any(one not in unpaid and (not self.limits.starts or one in self.limits.starts) for one in wanted):
            return 0
        staying = sum(offer.gpu_type in wanted or not offer.is_idle for offer in self._inventory.offers())
        lanes = [(lane, jobs) for lane, jobs in self._waiting.lanes().items() if lane not in self._waiting.hopeless]
        others = sum(jobs * lane.machines for lane, jobs in lanes if wanted.isdisjoint(lane.gpu_types))
        return max(0, self.limits.machines - staying - others)

    def may_have(self, gpu_type: str) -> bool:
        """True if there is a machine of the type, if the pool may start one, or if nobody knows what it may start."""
        starts = self.limits.starts
        return not starts or gpu_type in starts or any(one.gpu_type == gpu_type for one in self._inventory.offers())

    @property
    def knows_machines(self) -> bool:
        """False while there may be machines that this does not know of."""
        return self._inventory.is_complete

    def largest(self, gpu_type: str) -> int:
        """The GPUs of the largest machine of the type that there is, or that the pool may start; 0 if neither."""
        standing = (
            self._inventory.gpus(offer.machine_id)
            for offer in self._inventory.offers()
            if offer.gpu_type == gpu_type and offer.stage is not MachineStage.CLOSED
        )
        return max(self.limits.gpus if self.limits.machines else 0, *standing, 0)

    def image_sources(self, gpu_types: Collection[str]) -> list[tuple[str, ...] | None]:
        """The registries that images may come from, for each machine of these types that is ready."""
        return [
            offer.registries
            for offer in self._inventory.offers()
            if offer.gpu_type in gpu_types and offer.stage is MachineStage.READY
        ]

    def lasts(self, gpu_types: Collection[str], until: datetime) -> bool:
        """True if a machine of these types that there is now lives until then."""
        return any(
            offer.gpu_type in gpu_types and (offer.life_end is None or until <= offer.life_end)
            for offer in self._inventory.offers()
            if offer.stage is not MachineStage.CLOSED
        )

    def _end_of(self, job: Job) -> datetime:
        """The end of what runs, as others count on it: a dated one ends on time, and its grace is not its own."""
        now = self._now()
        start, reservation = job.start_time or now, job.reservation
        if self._running.winner(job.job_id):
            end = self._clock.now() + GIVING_BACK
        elif reservation is None:
            end = start + job.longest_run(self._longest_run)
        elif reservation.start_time:
            end = reservation.end_if_opened(now)
        elif reservation.expire_time:
            end = reservation.expire_time + GRACE
        else:
            end = max(start + USUAL_PREPARING, now) + reservation.total + GRACE
        return max(end, now, self._prolonged.get(job.job_id, end))

    def _now(self) -> datetime:
        """The present, in steps: what is late or overdue need not be planned again at each look."""
        now = self._clock.now()
        return now - timedelta(seconds=now.second % STEP_SECONDS, microseconds=now.microsecond)


def _machine_ids(those: Iterable[Lease | Seat]) -> tuple[str, ...]:
    return tuple(one.machine_id for one in those)
