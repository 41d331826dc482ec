"""What is kept for jobs of several machines whose turn has come, and where they start.

Nothing here is stored: it follows from rows, machines and what runs there, as what is kept for later does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from servicekit.clock import Clock
from services.scheduler.fairness.situation import Dated, Hold
from services.scheduler.fleet.fleet import Fleet, GangSeat, WholeMachines
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.spec import Placement
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.waiting import WaitingJobs
from vocabulary.slots import EIGHTHS_PER_GPU, Slot

HasTurn: TypeAlias = "Callable[[Job, Sequence[Job]], bool]"
"""Says if a job may have its machines kept, beside what the jobs before it are to get."""


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

    def seats(self, gpu_type: str, jobs: Sequence[Job], has_turn: HasTurn) -> list[GangSeat]:
        """The machines of these jobs, all of one GPU type; each is given its own after those before it.

        Those that had machines kept go first, in their order, so that nobody's begin moves back for a later one.
        """
        known = self._in_turn.get(gpu_type, [])
        place = {job_id: number for number, job_id in enumerate(known)}
        in_order = sorted(jobs, key=lambda job: place.get(job.job_id, len(known)))
        found = self.seats_beside(gpu_type, in_order, (), has_turn)
        self._in_turn[gpu_type] = [seat.job_id for seat in found if seat.machine_ids]
        return found

    def seats_beside(
        self, gpu_type: str, jobs: Sequence[Job], others: Iterable[GangSeat], has_turn: HasTurn
    ) -> list[GangSeat]:
        """The machines of those of the jobs that have their turn, in this order, after `others` have theirs.

        Nothing is kept for that.
        """
        if not jobs:
            return []
        fleet, before = self._dated.fleet(gpu_type), list[Job]()
        for other in others:
            if other.machine_ids and (waits := self._waiting.get(other.job_id)):
                fleet = self._with(fleet, other, waits)
                before.append(waits)
        found: list[GangSeat] = []
        for job in jobs:
            if not has_turn(job, before):
                continue
            spec, use = job.spec, self._dated.longest_use(job)
            need = WholeMachines(spec.machines, spec.resources.gpus, use, job.reserved.longest_lease)
            seat = fleet.first_start(job.job_id, need)
            found.append(seat)
            # One that nothing is kept for is in nobody's way.
            if seat.machine_ids:
                fleet = self._with(fleet, seat, job)
                before.append(job)
        return found

    def _with(self, fleet: Fleet, seat: GangSeat, job: Job) -> Fleet:
        """The machines, if the job gets those of its seat."""
        return fleet.promising(job.job_id, seat.machine_ids, seat.begin, seat.begin + self._dated.longest_use(job))

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
