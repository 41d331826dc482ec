"""What is kept for jobs of several machines whose turn has come, and where they start.

Nothing here is stored: it follows from rows, machines and what runs there, as what is kept for later does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from servicekit.clock import Clock
from services.scheduler.fleet.fleet import Fleet, GangSeat, WholeMachines
from services.scheduler.fleet.machine import GIVING_BACK
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.spec import Placement
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.waiting import WaitingJobs

NoTurn: TypeAlias = "Callable[[Job, Sequence[Job]], str]"
"""Says why no machines are kept for a job, beside what the jobs before it are to get; empty if they may be."""


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

    def seats(self, gpu_type: str, jobs: Sequence[Job], promises: Mapping[str, str], no_turn: NoTurn) -> list[GangSeat]:
        """The machines of these jobs, all of one GPU type; each is given its own after those before it.

        Those that had machines kept go first, in their order, so that nobody's begin moves back for a later one.
        """
        known = self._in_turn.get(gpu_type, [])
        in_order = sorted(jobs, key=lambda job: [*known, job.job_id].index(job.job_id))
        found = self.seats_beside(gpu_type, in_order, (), promises, no_turn)
        self._in_turn[gpu_type] = [seat.job_id for seat in found if seat.machine_ids]
        return found

    def seats_beside(
        self,
        gpu_type: str,
        jobs: Sequence[Job],
        others: Sequence[GangSeat],
        promises: Mapping[str, str],
        no_turn: NoTurn,
    ) -> list[GangSeat]:
        """The machines of the jobs, in this order, after `others` have theirs. Nothing is kept for that.

        `promises` names the machines on which runs give way to jobs that wait: these have them first.
        """
        if not jobs:
            return []
        fleet = self.with_promises(self._dated.fleet(gpu_type), others)
        for winner in filter(None, map(self._waiting.get, promises)):
            end = fleet.now + GIVING_BACK + self._dated.longest_use(winner)
            fleet = fleet.promising(winner.job_id, (promises[winner.job_id],), fleet.now, end)
        before = [job for other in others if other.machine_ids and (job := self._waiting.get(other.job_id))]
        found: list[GangSeat] = []
        for job in jobs:
            why, need = no_turn(job, before), self._need(job)
            seat = GangSeat(job.job_id, (), fleet.now, False, why) if why else fleet.first_start(job.job_id, need)
            found.append(seat)
            # One that nothing is kept for is in nobody's way.
            if seat.machine_ids:
                fleet = self.with_promises(fleet, [seat])
                before.append(job)
        return found

    def groups(self, job: Job) -> list[frozenset[str]]:
        """The machines that the job may be given by others: of any one group."""
        groups = self._dated.fleet(job.spec.gpu_type).groups(self._need(job))
        return [frozenset(one.machine_id for one in group) for group in groups]

    def _need(self, job: Job) -> WholeMachines:
        spec, use = job.spec, self._dated.longest_use(job)
        return WholeMachines(spec.machines, spec.resources.gpus, use, job.reserved.longest_lease)

    def with_promises(self, fleet: Fleet, seats: Iterable[GangSeat]) -> Fleet:
        """The machines, if jobs that wait get those of their seats."""
        for seat in seats:
            if job := self._waiting.get(seat.job_id):
                end = seat.begin + self._dated.longest_use(job)
                fleet = fleet.promising(seat.job_id, seat.machine_ids, seat.begin, end)
        return fleet

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
