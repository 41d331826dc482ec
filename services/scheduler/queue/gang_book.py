"""What is kept for jobs of several machines whose turn has come, and where they start.

Nothing here is stored: it follows from rows, machines and what runs there, as what is kept for later does.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING

from services.scheduler.fairness.situation import Dated, Hold
from services.scheduler.jobs.gang_seats import GangSeat, WholeMachine, gang_seat
from services.scheduler.jobs.spec import Placement
from services.scheduler.queue.placement import MachineStage
from vocabulary.slots import EIGHTHS_PER_GPU, Slot, covered

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from servicekit.clock import Clock
    from services.scheduler.jobs.job import Job
    from services.scheduler.jobs.reservation_calendar import CalendarMachine
    from services.scheduler.queue.dated_book import DatedBook
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.placement import MachineOffer
    from services.scheduler.queue.waiting import WaitingJobs

COMING = timedelta(minutes=10)
"""Machines that are being started count as free so much later. What ends by then may use the others meanwhile."""
GIVING_BACK = timedelta(minutes=1)
"""GPUs that we do not use and the pool does not call free are given back just now, and count as free so much later."""


class GangBook:
    """Finds the machines of jobs that take several."""

    def __init__(self, waiting: WaitingJobs, inventory: Inventory, dated: DatedBook, clock: Clock) -> None:
        self._waiting = waiting
        self._inventory = inventory
        self._dated = dated
        self._clock = clock
        self._in_turn: dict[str, list[str]] = {}
        """By GPU type, the jobs that had machines kept when they were looked for last."""

    def has_turn(self, job: Job) -> bool:
        """True if machines were kept for the job when they were looked for last."""
        return job.job_id in self._in_turn.get(job.spec.gpu_type, ())

    def seats(self, gpu_type: str, jobs: Sequence[Job]) -> list[GangSeat]:
        """The machines of these jobs, all of one GPU type; each is given its own after those before it.

        Those that had machines kept go first, in their order, so that nobody's begin moves back for a later one.
        """
        known = self._in_turn.get(gpu_type, [])
        place = {job_id: number for number, job_id in enumerate(known)}
        found = self.seats_beside(gpu_type, sorted(jobs, key=lambda job: place.get(job.job_id, len(known))), ())
        self._in_turn[gpu_type] = [seat.job_id for seat in found if seat.machine_ids]
        return found

    def seats_beside(self, gpu_type: str, jobs: Iterable[Job], others: Iterable[GangSeat]) -> list[GangSeat]:
        """The machines of these jobs in this order, after `others` have theirs. Nothing is kept for that."""
        now = self._clock.now()
        taken: defaultdict[str, list[tuple[datetime, datetime]]] = defaultdict(list)

        def take(seat: GangSeat, use: timedelta) -> None:
            for machine_id in seat.machine_ids:
                taken[machine_id].append((seat.begin, seat.begin + use))

        for other in others:
            if waits := self._waiting.get(other.job_id):
                take(other, self._dated.longest_use(waits))
        found: list[GangSeat] = []
        for job in jobs:
            use = self._dated.longest_use(job)
            seat = gang_seat(job.job_id, job.spec.machines, self._machines(gpu_type, job, taken), use, now)
            take(seat, use)
            found.append(seat)
        return found

    def kept(self, seats: Iterable[GangSeat], dated: Collection[Dated]) -> list[Dated]:
        """What is kept for them and for those that start later, each GPU for the one that has it first."""
        ours = [
            Dated(seat.job_id, job.spec.queue, Hold(machine_id, seat.begin, (Slot(gpu, 0, EIGHTHS_PER_GPU),)))
            for seat in seats
            if (job := self._waiting.get(seat.job_id))
            for machine_id in seat.machine_ids
            for gpu in range(self._inventory.gpus(machine_id))
        ]
        if not ours:
            return list(dated)
        theirs = [one._replace(hold=one.hold._replace(slots=(slot,))) for one in dated for slot in one.hold.slots]
        first: dict[tuple[str, int], Dated] = {}
        for one in sorted([*theirs, *ours], key=lambda one: one.hold.time):
            first.setdefault((one.hold.machine_id, one.hold.slots[0].gpu), one)
        return list(first.values())

    def placements(self, seat: GangSeat) -> Sequence[Placement]:
        """Where the job starts now, on all its machines; empty if they are not all free."""
        job = self._waiting.get(seat.job_id)
        if job is None or not seat.is_whole or seat.begin > self._clock.now():
            return ()
        held = self._dated.held()
        offers = {offer.machine_id: offer for offer in self._inventory.offers()}
        found: list[Placement] = []
        for machine_id in seat.machine_ids:
            slots = offers[machine_id].slots_for(job.spec.resources, held.get(machine_id, ()))
            if not slots:
                return ()
            found.append(Placement(machine_id, slots))
        return found

    def _machines(
        self, gpu_type: str, job: Job, taken: Mapping[str, Sequence[tuple[datetime, datetime]]]
    ) -> list[WholeMachine]:
        """The machines that could be the job's, beside what is `taken` by others, or promised to start later."""
        calendar, held, now = self._dated.calendar(gpu_type), self._dated.held(), self._clock.now()
        known = {machine.machine_id: machine for machine in calendar.machines}
        ends = {booking.booking_id: booking.end for booking in calendar.bookings}
        promised = [(seat.machine_id, (seat.begin, ends[seat.booking_id])) for seat in self._dated.seats(gpu_type)]
        found: list[WholeMachine] = []
        for offer in self._inventory.offers():
            name, machine = offer.machine_id, known.get(offer.machine_id)
            if machine is None or machine.gpus < job.spec.resources.gpus or not offer.is_for("", self._waiting):
                continue
            free = _free_time(offer, machine, held.get(name, ()), now)
            if offer.life_end is None or free + job.reserved.longest_lease <= offer.life_end:
                busy = (*taken.get(name, ()), *(times for machine_id, times in promised if machine_id == name))
                found.append(WholeMachine(name, offer.site, free, offer.stage is MachineStage.READY, busy))
        return found


def _free_time(offer: MachineOffer, machine: CalendarMachine, held: Sequence[Slot], now: datetime) -> datetime:
    """When all its GPUs are free at the latest."""
    if offer.stage is not MachineStage.READY:
        return now + COMING
    ours = covered([0] * len(offer.free_masks), held)
    is_given_back = any(mask & ~own for mask, own in zip(offer.taken, ours, strict=True))
    return max(now + GIVING_BACK if is_given_back else now, *machine.busy_until.values(), now)
