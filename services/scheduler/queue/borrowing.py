"""Which reservations use more than the quotas of their queues, and who waits for that.

Submissions give such GPUs back at once; a reservation keeps them to its end, as people work there. So it gets no more
time while a queue waits for what is its own, and a queue may say how long its reservations may be that take more than
its quota, or that they are ended for others, with notice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from servicekit.clock import Clock
from services.scheduler.fairness.settings import Queues, in_gpus
from services.scheduler.jobs.errors import CalendarConflictError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation_checks import length_text
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineStage
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs, slots_by_machine
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import Lane, WaitingJobs
from vocabulary.slots import EIGHTH_MILLI

MOST_NAMED = 3
"""Reservations of which `why` names the end."""


class InUse(NamedTuple):
    """What each queue and all below it have of a GPU type, in thousandths of a GPU: in all, and in reservations."""

    used: Mapping[str, int]
    reserved: Mapping[str, int]


def lends(queues: Queues, gpu_type: str, in_use: InUse, owner: str, wants: int, borrower: str) -> bool:
    """True if reservations of `borrower` use what `owner` may have whatever others want, and now wants.

    Quotas count below the queue that is above both; `wants` is thousandths of GPUs. The borrower need not be above its
    own quota if what its parent has is within that one's: then it borrows from its siblings.
    """
    upwards = [queue.name for queue in queues.upwards(queues.known(owner))]
    borrowers = [queue.name for queue in queues.upwards(queues.known(borrower))]
    owners_side = [name for name in upwards if name not in borrowers]
    borrowers_side = [name for name in borrowers if name not in upwards]
    if not owners_side or not borrowers_side:
        return False
    is_owed = all(in_use.used.get(name, 0) + wants <= queues.quota(name, gpu_type) for name in owners_side)
    return is_owed and in_use.reserved.get(borrowers_side[-1], 0) > queues.quota(borrowers_side[-1], gpu_type)


class Borrowing:
    """Looks at the quotas; `blocked` says why the pool starts no machine for a lane, and is empty if it does."""

    def __init__(
        self,
        book: QueueBook,
        situations: Situations,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        blocked: Callable[[Lane], str],
        clock: Clock,
    ) -> None:
        self._book = book
        self._situations = situations
        self._waiting = waiting
        self._running = running
        self._inventory = inventory
        self._blocked = blocked
        self._clock = clock

    def borrowed(self, job: Job) -> int:
        """Thousandths of GPUs of a reservation, which runs or is about to, above the quota of its queue.

        The queue's reservations that began before it have the quota first. 0 if no other queue has one: then nobody
        lends them.
        """
        queues, gpu_type = self._book.queues, job.machine_gpu_type or job.spec.gpu_type
        leaf = queues.known(job.spec.queue)
        if not any(queues.quota(name, gpu_type) for name in queues.leaves - {leaf}):
            return 0
        before = sum(
            one.eighths * EIGHTH_MILLI
            for one in self._reservations(gpu_type)
            if queues.known(one.spec.queue) == leaf and (job.start_time is None or _since(one) < _since(job))
        )
        size = job.eighths * EIGHTH_MILLI
        return max(0, min(size, before + size - queues.quota(leaf, gpu_type)))

    def check_extension(self, job: Job, total: timedelta) -> None:
        """Raises CalendarConflictError if a running reservation may not have `total` time in all, as it borrows."""
        if job.state is not JobState.RUNNING or not (borrowed := self.borrowed(job)):
            return
        queue = job.spec.queue
        what = f"{in_gpus(borrowed)} of its GPUs are above the quota of queue {queue}"
        longest = self._book.queues.longest_borrowing(self._book.queues.known(queue))
        if longest is not None and total > longest:
            which = f"which lets such reservations last {length_text(longest)}"
            fix = "Save your work, and reserve again later; or reserve in another queue"
            raise CalendarConflictError("duration", f"{what}, {which}. {fix}")
        if owner := self._owner(job):
            fix = "Save your work, and reserve again when there is room"
            raise CalendarConflictError("duration", f"{what}, and queue {owner} waits for GPUs of its own quota. {fix}")

    def why(self, job: Job) -> list[str]:
        """Which queues borrow what a waiting job may have by its queue's quota, in reservations, and until when."""
        queues, gpu_type = self._book.queues, job.spec.gpu_type
        in_use, wants = self._in_use(gpu_type), job.spec.least_milli
        sentences: list[str] = []
        ends = self._ends(gpu_type)
        for queue in sorted(ends):
            if not lends(queues, gpu_type, in_use, job.spec.queue, wants, queue):
                continue
            first = sorted(ends[queue].items())[:MOST_NAMED]
            by = "; ".join(f"{in_gpus(gpus)} by {end:%Y-%m-%d %H:%M} UTC" for end, gpus in first)
            has = f"{in_gpus(in_use.reserved[queue])} reserved with a quota of {in_gpus(queues.quota(queue, gpu_type))}"
            sentences.append(f"Queue {queue} has {has}; these keep their GPUs to their ends: {by}.")
        return sentences

    def recalled(self) -> dict[str, str]:
        """By id, the reservations that are to give their GPUs to a queue that waits, and that queue (`recallNotice`).

        Of those that may be ended it is as few as are enough for the first job of a kind: first those that have had
        notice, then the ones that began last. None is if all of them would not do.
        """
        recalled: dict[str, str] = {}
        for lane in self._waiting.lanes():
            able = [job for job in self._recallable(lane.gpu_types[0]) if self._lends(lane, job)]
            if able and self._waits_in_vain(lane):
                recalled |= {job.job_id: lane.queue for job in self._enough(lane, able) if job.job_id not in recalled}
        return recalled

    def _recallable(self, gpu_type: str) -> list[Job]:
        queues = self._book.queues
        found = [
            job
            for job in self._reservations(gpu_type)
            if job.reserved.active_time and queues.recall_notice(queues.known(job.spec.queue)) and self.borrowed(job)
        ]
        found.sort(key=_since, reverse=True)
        return sorted(found, key=lambda job: job.reserved.recall is None)

    def _enough(self, lane: Lane, able: Sequence[Job]) -> list[Job]:
        """As few of these as leave room for a job of the lane, if they end; empty if even all do not."""
        first = (able[:number] for number in range(1, len(able) + 1))
        chosen = next((list(jobs) for jobs in first if self._has_room(lane, jobs)), list[Job]())
        for job in chosen[:-1]:
            others = [one for one in chosen if one is not job]
            if self._has_room(lane, others):
                chosen = others
        return chosen

    def _ends(self, gpu_type: str) -> dict[str, Counter[datetime]]:
        """What the reservations of each queue have, in thousandths of GPUs, by when they end at the latest."""
        ends: dict[str, Counter[datetime]] = {}
        for one in self._reservations(gpu_type):
            end = one.reserved.end_if_opened(self._clock.now())
            if one.reserved.recall:
                end = min(end, one.reserved.recall.time)
            ends.setdefault(self._book.queues.known(one.spec.queue), Counter())[end] += one.eighths * EIGHTH_MILLI
        return ends

    def _reservations(self, gpu_type: str) -> Iterator[Job]:
        return (one for one in self._running.jobs() if one.reservation and one.machine_gpu_type == gpu_type)

    def _in_use(self, gpu_type: str) -> InUse:
        return InUse(self._situations.used(gpu_type), self._situations.reserved(gpu_type))

    def _owner(self, job: Job) -> str:
        """The queue that waits for what a reservation's queue borrows, though no machine is started for it."""
        lanes = (lane for lane in self._waiting.lanes() if lane.gpu_types[0] == job.machine_gpu_type)
        return next((lane.queue for lane in lanes if self._lends(lane, job) and self._waits_in_vain(lane)), "")

    def _lends(self, lane: Lane, job: Job) -> bool:
        """True if a lane waits for what a reservation's queue borrows."""
        wants = lane.resources.least.milli * lane.machines
        in_use = self._in_use(job.machine_gpu_type)
        return lends(self._book.queues, job.machine_gpu_type, in_use, lane.queue, wants, job.spec.queue)

    def _waits_in_vain(self, lane: Lane) -> bool:
        """True if no machine has room for a job of the lane, and none is started for it."""
        return lane not in self._waiting.hopeless and bool(self._blocked(lane)) and not self._has_room(lane)

    def _has_room(self, lane: Lane, ended: Collection[Job] = ()) -> bool:
        """True if a job of the lane fits on machines now, once some that run have ended."""
        held = slots_by_machine(job for job in self._running.jobs() if job not in ended)
        given = slots_by_machine(ended)
        ready = (
            offer.without(given[offer.machine_id])
            for offer in self._inventory.offers()
            if offer.gpu_type in lane.gpu_types and offer.stage is MachineStage.READY
        )
        fitting = sum(bool(offer.slots_for(lane.resources.least, held[offer.machine_id])) for offer in ready)
        return fitting >= lane.machines


def _since(job: Job) -> tuple[datetime, str]:
    """Orders reservations that run by their starts."""
    return job.start_time or job.create_time, job.job_id
