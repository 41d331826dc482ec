"""Which reservations use more than the quotas of their queues, and who waits for that.

Submissions give such GPUs back at once; a reservation keeps them to its end, as people work there. So it gets no more
time while a queue waits for what is its own, and a queue may say how long its reservations may be that take more than
its quota, or that they are ended for others, with notice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from servicekit.clock import Clock
from services.scheduler.fairness.settings import Queues, in_gpus
from services.scheduler.jobs.dated_limits import START_FIELD, time_text
from services.scheduler.jobs.errors import CalendarConflictError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation_calendar import Booking
from services.scheduler.jobs.reservation_checks import length_text
from services.scheduler.jobs.resources import Resources
from services.scheduler.jobs.states import JobState
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineOffer, MachineStage
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.waiting import Lane, WaitingJobs
from vocabulary.slots import EIGHTH_MILLI, Slot

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

    def check_start(self, job: Job, asked: Booking, beside: Iterable[tuple[Job, datetime, datetime]]) -> None:
        """Raises CalendarConflictError if a queue would have more than its limit, with those `beside` it then.

        At its start it goes first, whatever its queue has by then.
        """
        queues, gpu_type = self._book.queues, job.spec.gpu_type
        meets = [one for one in beside if asked.overlaps(*one[1:])]
        for queue in queues.upwards(queues.known(job.spec.queue)):
            limit = queues.share(queue.name, gpu_type).limit
            there = [one for one in meets if queue in queues.upwards(queues.known(one[0].spec.queue))]
            if limit is None or not there:
                continue
            instants = [asked.begin, *(begin for _, begin, _ in there if begin > asked.begin)]
            has = max(sum(one.eighths for one, begin, end in there if begin <= at < end) for at in instants)
            if (has + job.eighths) * EIGHTH_MILLI > limit:
                last = time_text(max(end for _, _, end in there))
                may = f"queue {queue.name} may have {in_gpus(limit)} of {gpu_type} at a time"
                has_then = f"its reservations have {in_gpus(has * EIGHTH_MILLI)} then. From {last} on they have none"
                raise CalendarConflictError(START_FIELD, f"is {time_text(asked.begin)}; {may}, and {has_then}")

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

    @property
    def is_sure(self) -> bool:
        """False for a moment after a start, and while vmpool's machines cannot be followed."""
        return self._inventory.is_complete and self._situations.dated.is_loaded

    def recalled(self) -> dict[str, str]:
        """By id, the reservations that are to give their GPUs to a queue that waits, and that queue (`recallNotice`).

        For the first job of each kind it is as few as make room, those first that have had notice, then those that
        began last. None is ended for a job that wants a machine of its own, or that starts at its time.
        """
        recalled: dict[str, str] = {}
        borrowers: dict[str, list[Job]] = {}
        for lane in self._waiting.lanes():
            [job] = self._waiting.first(lane, 1)
            if lane.own_job_id or job.is_dated or lane in self._waiting.hopeless or not self._blocked(lane):
                continue
            gpu_type = lane.gpu_types[0]
            if gpu_type not in borrowers:
                borrowers[gpu_type] = self._recallable(gpu_type)
            lent = {queue for queue in {one.spec.queue for one in borrowers[gpu_type]} if self._lends(lane, queue)}
            able = [one for one in borrowers[gpu_type] if one.spec.queue in lent]
            if able:
                recalled |= dict.fromkeys(self._enough(lane, job, able), lane.queue)
        return recalled

    def waits_for(self, queue: str, job: Job) -> bool:
        """True if a job of that queue still waits for what the queue of a reservation borrows."""
        lanes = (lane for lane in self._waiting.lanes() if lane.queue == queue)
        return any(lane.gpu_types[0] == job.machine_gpu_type and self._lends(lane, job.spec.queue) for lane in lanes)

    def _recallable(self, gpu_type: str) -> list[Job]:
        """The reservations above the quotas of their queues that these let be ended, in the order of that."""
        queues = self._book.queues
        used: Counter[str] = Counter()
        found: list[Job] = []
        for job in sorted(self._reservations(gpu_type), key=_since):
            leaf = queues.known(job.spec.queue)
            used[leaf] += job.eighths * EIGHTH_MILLI
            is_open = job.reserved.active_time and not job.cancel_time
            if is_open and used[leaf] > queues.quota(leaf, gpu_type) and queues.recall_notice(leaf):
                found.append(job)
        found.reverse()
        return sorted(found, key=lambda job: job.reserved.recall is None)

    def _enough(self, lane: Lane, job: Job, able: Sequence[Job]) -> set[str]:
        """The ids of as few of these as leave room for a job of the lane; none if it has room or they do not help."""
        now, need = self._clock.now(), lane.resources.least
        suitable = self._situations.suitable(lane)
        kept = self._situations.kept(lane.gpu_types[0]) if lane.machines == 1 else ()
        on_machine, turns = _by_machine(self._running.jobs()), {one.job_id: turn for turn, one in enumerate(able)}
        ways: list[list[str]] = []
        for offer in self._inventory.offers():
            lasts = not offer.life_end or now + timedelta(seconds=lane.longest_seconds) <= offer.life_end
            is_able = offer.gpu_type in lane.gpu_types and (suitable is None or offer.machine_id in suitable)
            if offer.stage is MachineStage.READY and lasts and is_able:
                later = [slot for one in self._situations.in_front(job, offer, kept) for slot in one.hold.slots]
                way = _way(offer, need, on_machine[offer.machine_id], turns, later)
                ways += [] if way is None else [way]
        ways.sort(key=len)
        return {job_id for way in ways[: lane.machines] for job_id in way} if len(ways) >= lane.machines else set()

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
        for lane in self._waiting.lanes():
            waits = lane.gpu_types[0] == job.machine_gpu_type and lane not in self._waiting.hopeless
            if waits and self._lends(lane, job.spec.queue) and self._blocked(lane) and not self._has_room(lane):
                return lane.queue
        return ""

    def _lends(self, lane: Lane, borrower: str) -> bool:
        """True if a lane waits for what a queue borrows in reservations."""
        wants, gpu_type = lane.resources.least.milli * lane.machines, lane.gpu_types[0]
        return lends(self._book.queues, gpu_type, self._in_use(gpu_type), lane.queue, wants, borrower)

    def _has_room(self, lane: Lane) -> bool:
        """True if a job of the lane fits on machines now: no reservation keeps it waiting."""
        held = self._situations.held()
        fitting = sum(
            bool(offer.slots_for(lane.resources.least, held[offer.machine_id]))
            for offer in self._inventory.offers()
            if offer.gpu_type in lane.gpu_types and offer.stage is MachineStage.READY
        )
        return fitting >= lane.machines


def _by_machine(jobs: Iterable[Job]) -> defaultdict[str, dict[str, tuple[Job, list[Slot]]]]:
    """By machine and job id, the jobs that run and the slots that each has there."""
    found: defaultdict[str, dict[str, tuple[Job, list[Slot]]]] = defaultdict(dict)
    for job in jobs:
        for lease in job.leases:
            found[lease.machine_id].setdefault(job.job_id, (job, []))[1].extend(lease.slots)
    return found


def _way(
    offer: MachineOffer,
    need: Resources,
    running: Mapping[str, tuple[Job, list[Slot]]],
    turns: Mapping[str, int],
    later: Sequence[Slot],
) -> list[str] | None:
    """The first jobs of `turns` whose ends leave room on the machine; None if those of all do not.

    What is ending is taken for gone, so that nobody has to leave for room that comes anyway.
    """
    here = sorted(turns.keys() & running.keys(), key=lambda job_id: turns[job_id])
    ending = {job_id for job_id, (job, _) in running.items() if job.cancel_time}
    for number in range(len(here) + 1):
        gone = ending.union(here[:number])
        freed = [slot for job_id in gone for slot in running[job_id][1]]
        held = [slot for job_id, (_, slots) in running.items() if job_id not in gone for slot in slots]
        if offer.without(freed).slots_for(need, [*held, *later]):
            return here[:number]
    return None


def _since(job: Job) -> tuple[datetime, str]:
    """Orders reservations that run by their starts."""
    return job.start_time or job.create_time, job.job_id
