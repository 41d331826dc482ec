"""Describes the queue, the machines and the runs as the policies of fairness see them, one GPU type at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from servicekit.clock import Clock
from services.scheduler.fairness.backfill import first_room, may_have
from services.scheduler.fairness.plan import plan
from services.scheduler.fairness.settings import FairnessPolicy, in_gpus
from services.scheduler.fairness.situation import (
    Candidate,
    Dated,
    Hold,
    Machine,
    Plan,
    QueueState,
    Running,
    Situation,
    Stop,
)
from services.scheduler.fleet.fleet import GangSeat
from services.scheduler.fleet.machine import GIVING_BACK
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.resources import Resources, Reuse
from services.scheduler.jobs.spec import Placement
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.gang_book import GangBook
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.placement import MachineOffer, MachineStage, machine_with_torch
from services.scheduler.queue.plugins import Placements
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs, slots_by_machine
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import Lane, WaitingJobs, lane_of
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU, LEGAL_SIZES, WHOLE_GPU, Slot

MOST_STOPS = 2
"""So many jobs of a lane can have others stopped in one pass; those behind them can in the next."""
LISTED_FOR_EACH_START = 2
"""Jobs that are looked at for each free GPU, over all lanes together."""
LISTED_AGAIN = 4
"""So many times as many are looked at if a lane starts all of its first ones."""
MOST_PREEMPTIONS = 3
"""A job that was excused this often keeps its GPU: two queues that take it from each other would never end."""
MOVE_COOL_DOWN = timedelta(minutes=1)
"""A run is not moved before it is so old: it would lose little, but start, and have others wait, again and again."""
RETURN_TIME = timedelta(minutes=2)
"""The place of a run that was stopped to start again is kept for so long; its end takes some seconds."""

NO_SHARE = "it takes more than its queue's fair share has left, and other queues have jobs that wait"


class FullQueue(NamedTuple):
    """A queue that may not have so much more of a GPU type, and what it may have, in thousandths of a GPU."""

    name: str
    most: int
    longest: timedelta | None = None
    """Its quota counts, because this is a reservation that lasts longer than those that may take more."""


class _Return(NamedTuple):
    """Where a job starts again that is being stopped, and until when that is kept for it."""

    stop: Stop
    gpu_type: str
    queue: str
    until: datetime


class Situations:
    """Makes the situations of a pass. Without `placements`, the fullest machine is taken; without `dated`, any time."""

    def __init__(
        self,
        book: QueueBook,
        usage: UsageBook,
        waiting: WaitingJobs,
        running: RunningJobs,
        inventory: Inventory,
        clock: Clock,
        longest_run: timedelta,
        placements: Placements | None = None,
        dated: DatedBook | None = None,
    ) -> None:
        self._book = book
        self._usage = usage
        self._waiting = waiting
        self._running = running
        self._inventory = inventory
        self._clock = clock
        self._longest_run = longest_run
        self._placements = placements
        self.dated = dated or DatedBook(waiting, running, inventory, clock, longest_run)
        self.promises: dict[str, str] = {}
        """Machines on which others give way, by the job that gets them."""
        self.holds: Mapping[str, Hold] = {}
        """What the last pass kept of machines, by the job that it is for."""
        self._returns: dict[str, _Return] = {}
        self._gangs = GangBook(waiting, inventory, self.dated, clock)
        self.states: dict[str, Mapping[str, QueueState]] = {}
        """What each queue may have and has, by GPU type, as the last pass found."""

    def wanted_types(self) -> list[str]:
        """The GPU types that some waiting job would rather have than any other."""
        return sorted({lane.gpu_types[0] for lane in self._waiting.lanes()})

    def fallback_types(self) -> list[str]:
        """The GPU types that will do for some waiting job."""
        return sorted({gpu_type for lane in self._waiting.lanes() for gpu_type in lane.gpu_types[1:]})

    def plan(self, gpu_type: str, *, fallback: bool = False) -> Plan:
        """The plan for the situation of a GPU type, for a pass: what queues use counts against them from now on.

        Most lanes start a few jobs at most. So few jobs of each are looked at first; more if a lane starts all of
        those, and as many as can start if room is kept for a job, as any of them may end before that is needed. Cycles
        of `kueue` look at all at once: there, jobs that do not start have a say in who does.
        """
        lanes = max(1, len(self._waiting.lanes()))
        free = sum(offer.free_eighths for offer in self._inventory.offers() if offer.gpu_type == gpu_type)
        # More than a lane can start, of jobs that take an eighth.
        enough = MOST_STOPS + free
        few = MOST_STOPS + LISTED_FOR_EACH_START * free // EIGHTHS_PER_GPU // lanes
        most = enough if self._book.queues.policy is FairnessPolicy.KUEUE else few
        while True:
            situation = self.of(gpu_type, fallback=fallback, most=most)
            decided = plan(situation)
            if most >= enough or not (decided.holds or self._starts_all_of_a_lane(situation, decided)):
                if not fallback:
                    self._usage.note(situation)
                    self.states[gpu_type] = decided.queues
                return decided
            most = enough if decided.holds else most * LISTED_AGAIN

    def _starts_all_of_a_lane(self, situation: Situation, decided: Plan) -> bool:
        """True if the jobs behind those of a lane that the situation has might start too."""
        listed: Counter[Lane] = Counter()
        left: set[Lane] = set()
        for one in situation.waiting:
            job = self._waiting.get(one.job_id)
            if job:
                lane = lane_of(job)
                listed[lane] += 1
                if one.job_id not in decided.starts and one.job_id not in decided.promises:
                    left.add(lane)
        waiting = self._waiting.lanes()
        return any(lane not in left and waiting[lane] > number for lane, number in listed.items())

    def of(self, gpu_type: str, *, fallback: bool = False, most: int | None = None) -> Situation:
        """The situation of a GPU type: of the jobs that want it, or with `fallback` of those that it will do for.

        It has only as many jobs of each lane as can start or have others stopped in one pass, and `most` at most.
        """
        offers = [offer for offer in self._inventory.offers() if offer.gpu_type == gpu_type]
        running = self._of_type(gpu_type)
        held = self.held()
        machines = [self.machine(offer, held.get(offer.machine_id, ())) for offer in _preferred_first(offers)]
        free = sum(one.own_gpus for one in machines) * EIGHTHS_PER_GPU
        free = max(0, free - sum(lease.eighths for job in running for lease in job.leases))
        # A job that waits for a machine of its own takes no part before that is there: no other machine is for it.
        own = {"", *(offer.own_job_id for offer in offers)}
        lanes = {
            lane: (waiting, min(free // lane.resources.least.eighths + MOST_STOPS, waiting if most is None else most))
            for lane, waiting in self._waiting.lanes().items()
            if lane.own_job_id in own
            and lane.machines == 1
            and (gpu_type in lane.gpu_types[1:] if fallback else lane.gpu_types[0] == gpu_type)
        }
        further: Counter[str] = Counter()
        for lane, (waiting, listed) in lanes.items():
            further[self._book.queues.known(lane.queue)] += max(0, waiting - listed) * lane.resources.eighths
        due = Counter(lane_of(job) for job in self._waiting.dated.values())
        for lane, waiting in self._waiting.lanes().items():
            # Those of several machines start beside the policies, which know machines one by one.
            if lane.machines > 1 and lane.gpu_types[0] == gpu_type and not fallback:
                eighths = lane.machines * lane.resources.eighths
                further[self._book.queues.known(lane.queue)] += (waiting - due[lane]) * eighths
        first = (job for lane, (_, listed) in lanes.items() for job in self._waiting.first(lane, listed))
        # Those whose start has come get the GPUs that are kept for them, whatever the policy says.
        jobs = sorted((job for job in first if not job.is_dated), key=self._waiting.rank)
        jobs = list(self._within_quotas(jobs, gpu_type))
        for job in jobs:
            # What a range could have beyond the least is asked for, too.
            if job.spec.resources.is_range:
                more = job.spec.resources.eighths - job.spec.resources.least_eighths
                further[self._book.queues.known(job.spec.queue)] += more
        suitable = {lane: _suitable(lane, offers, self._waiting) for lane in lanes}
        situation = Situation(
            gpu_type,
            self._book.queues,
            self._clock.now(),
            machines,
            [*(one for job in running for one in self._holders(job, offers)), *self._places_kept(gpu_type, jobs)],
            [self._candidate(job, gpu_type, suitable[lane_of(job)]) for job in jobs],
            further_eighths=further,
            may_stop=not fallback,
            dated=self.kept(gpu_type),
        )
        return situation if fallback else replace(situation, usage_ppm=self._usage.used_ppm(situation))

    def kept(self, gpu_type: str) -> Sequence[Dated]:
        """What is kept of a GPU type for reservations that start later, and for those of several machines."""
        seats = self.gang_seats(gpu_type)
        dated = {job.job_id: job for job in self.dated.jobs() if job.spec.gpu_type == gpu_type}
        if not seats and not dated:
            return []
        return [
            Dated(
                one.user_id,
                job.spec.queue,
                Hold(name, one.begin, tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in one.gpus)),
            )
            for name, one in self._gangs.with_promises(self.dated.fleet(gpu_type), seats).kept()
            if (job := dated.get(one.user_id) or self._waiting.get(one.user_id))
        ]

    def gang_seats(self, gpu_type: str) -> list[GangSeat]:
        """The machines for jobs of several whose turn has come: the first of its queue, if that may have so much."""
        return [seat for seat in self.gangs(gpu_type) if not seat.no_turn]

    def gangs(self, gpu_type: str) -> list[GangSeat]:
        """The machines for the first of each queue that takes several, or why its turn has not come."""
        jobs = [job for job in self._waiting.first_gangs(gpu_type) if self.gang_type(job) == gpu_type]
        return self._gangs.seats(gpu_type, [job.of_type(gpu_type) for job in jobs], self.promises, self._no_turn)

    def room_for(self, seat: GangSeat) -> list[Stop]:
        """Who gives way to a job of several machines by the rules of its queue: nobody, unless all of it then starts.

        A policy sees it as so many jobs of a machine each, and is asked again when those that gave way have stopped.
        """
        job, soon = self._waiting.get(seat.job_id), self._clock.now() + GIVING_BACK
        if not job or self.gang_type(job) != job.spec.gpu_type or self.is_too_late(job):
            return []
        if not seat.machine_ids or seat.begin <= soon or job.job_id in self._running.winners():
            return []
        bare = self.of(job.spec.gpu_type, most=0)
        further = Counter(bare.further_eighths)
        further[self._book.queues.known(job.spec.queue)] -= job.eighths
        others = [one for one in bare.dated if one.job_id != job.job_id]
        names = [f"machine {rank} of {job.job_id}" for rank in range(job.spec.machines)]
        for machines in self._gangs.groups(job):
            parts = [replace(self._candidate(job, bare.gpu_type, machines), job_id=name) for name in names]
            decided = plan(replace(bare, waiting=parts, further_eighths=further, dated=others))
            if len({*decided.starts.values(), *decided.promises.values()}) == len(parts):
                return [stop._replace(winner=job.job_id) for stop in decided.stops]
        return []

    def gang_type(self, job: Job) -> str:
        """The type of which machines are kept for a job of several: the first of which enough are there or coming."""
        spec = job.spec
        return self._inventory.type_with(spec.machines, spec.resources.gpus, spec.gpu_types) or spec.gpu_type

    def gangs_elsewhere(self, gpu_type: str, holds: Iterable[Hold]) -> dict[str, Sequence[Placement]]:
        """Where jobs of several machines start for which this type will do, too, if machines of another are kept.

        Beside `holds`, and what is kept for those whose own type it is; nowhere for those that find too few free.
        """
        gangs = self._waiting.first_gangs(gpu_type)
        jobs = [job for job in gangs if gpu_type in job.spec.fallback_gpu_types and self.gang_type(job) != gpu_type]
        away, ours = {hold.machine_id for hold in holds}, [job.of_type(gpu_type) for job in jobs]
        kept = self.gang_seats(gpu_type)
        seats = self._gangs.seats_beside(gpu_type, ours, kept, self.promises, self._no_turn)
        return {seat.job_id: self._gangs.placements(seat) for seat in seats if away.isdisjoint(seat.machine_ids)}

    def _no_turn(self, job: Job, before: Iterable[Job]) -> str:
        """Why the job's queues may not have so much of its type beside what those before it are to get."""
        if full := self.full_queue(job, before):
            kept = ", ".join(one.job_id for one in before)
            beside = f", beside what is kept for {kept}" if kept else ""
            return f"queue {full.name} may have {in_gpus(full.most)} GPUs of {job.spec.gpu_type}{beside}"
        return "" if self.may_have_turn(job) else NO_SHARE

    def gang_placements(self, seat: GangSeat) -> Sequence[Placement]:
        """Where a job of several machines starts now; empty if not all of them are free."""
        return self._gangs.placements(seat)

    def may_have_turn(self, job: Job) -> bool:
        """True if a job of several machines may have its turn, once it is the first of its queue.

        It has it already, or the queue may have all that it takes, beside what the other queues want.
        """
        if self._gangs.has_turn(job):
            return True
        gpu_type, queues = job.spec.gpu_type, self._book.queues
        states, leaf = self.states.get(gpu_type), queues.known(job.spec.queue)
        # What was found is old if nobody wants the type now, or if the tree has other queues since.
        above = {queue.name for queue in queues.upwards(leaf)}
        if states is None or not above <= states.keys() or gpu_type not in self.wanted_types():
            return True
        others = {queues.known(lane.queue) for lane in self._waiting.lanes() if gpu_type in lane.gpu_types} - {leaf}
        bare = Situation(gpu_type, queues, self._clock.now(), (), (), ())
        return may_have(bare, states, leaf, job.eighths, is_alone=not others)

    def keep_promises(self, promises: Mapping[str, str]) -> None:
        """Keeps those of a plan for which others give way, until their jobs start; forgets who did not come back."""
        # A run that moves has stopped when it neither runs nor waits, and its winner may not have started by then.
        winners = self._running.winners() | {one.stop.winner for one in self._expected().values()}
        kept = {job: machine for job, machine in promises.items() if job in winners or job in self.promises}
        waiting = {job: machine for job, machine in self.promises.items() if job in self._waiting and job in winners}
        self.promises = waiting | kept
        self._returns = self._expected()

    def expect_back(self, stop: Stop) -> None:
        """Keeps the place of a job that is stopped to start again there."""
        job = next((job for job in self._running.jobs() if job.job_id == stop.job_id), None)
        if job and stop.machine_id:
            until = self._clock.now() + RETURN_TIME
            self._returns[stop.job_id] = _Return(stop, job.machine_gpu_type, job.spec.queue, until)

    def forget_ended(self, has_task: Callable[[str], bool]) -> None:
        """Gives up the places of jobs that ended instead of starting again: they neither wait nor have a task."""
        self._returns = {
            job_id: one for job_id, one in self._returns.items() if job_id in self._waiting or has_task(job_id)
        }

    def is_back(self, job_id: str) -> None:
        """Notes that a job has started again, wherever."""
        self._returns.pop(job_id, None)

    def returning_types(self) -> set[str]:
        """The GPU types of which places are kept for jobs that start again."""
        return {one.gpu_type for one in self._expected().values()}

    def askable(self, jobs: Sequence[Job]) -> list[Job]:
        """Those of a fixed size for which any free slots will do, and that break no limit of their queues.

        Those that do not take any machine (`reuse`, `create`) are left to plans. So are single GPUs of types that a job
        of several waits for: plans know what is kept for it.
        """
        offers = self._inventory.offers()
        large = {
            gpu_type
            for lane in self._waiting.lanes()
            if lane.resources.least.gpus > 1
            and self._inventory.suits(lane.resources, lane.gpu_types, lane.own_job_id, self._waiting)
            for gpu_type in lane.gpu_types
        }
        used = {gpu_type: self.used(gpu_type) for gpu_type in {job.spec.gpu_type for job in jobs}}
        return [
            job
            for job in jobs
            if job.spec.resources.is_plain
            and job.spec.machines == 1
            and not job.spec.resources.is_range
            and job.spec.reuse is Reuse.REUSE_OR_CREATE
            and (job.spec.resources.gpus > 1 or large.isdisjoint(job.spec.gpu_types))
            and machine_with_torch(job, offers) is None
            # The pool does not know what is kept for later.
            and not job.is_dated
            and self.dated.may_take_any(job)
            and self._full_queue(job, used[job.spec.gpu_type]) is None
            and not self.waits_for_quota(job)
            and not self._is_kept_back(job)
        ]

    def is_too_late(self, job: Job) -> bool:
        """True if an attempt that starts now might not end before the job's deadline."""
        return job.spec.is_too_late(self._clock.now(), self._longest_run)

    def full_queue(self, job: Job, before: Iterable[Job] = ()) -> FullQueue | None:
        """The job's queue, or the nearest above, that may not have so much more of the wanted type.

        What those `before` it are to get counts as used, and what its queue has reserved for later meanwhile. One that
        has a start of its own is not held up by a quota.
        """
        first = {one.job_id: one for one in (*before, *self.promised(job))}
        full = self._full_queue(job, self._taken([*self._of_type(job.spec.gpu_type), *first.values()]))
        return full or (None if job.is_dated else self._over_quota(job, self.reserved(job.spec.gpu_type)))

    def promised(self, job: Job) -> list[Job]:
        """The reservations that are to start before an immediate one would end, as they have their GPUs in any case."""
        if job.reservation is None or job.is_dated:
            return []
        end = self._clock.now() + self.dated.longest_use(job)
        return [
            one
            for one in self.dated.jobs()
            if one.spec.gpu_type == job.spec.gpu_type and one.reserved.start_time and one.reserved.start_time < end
        ]

    def small_queue(self, job: Job) -> FullQueue | None:
        """The job's queue, or the nearest above, that may never have what the job takes."""
        return self._full_queue(job, {}) or self._over_quota(job, {})

    def used(self, gpu_type: str) -> Mapping[str, int]:
        """What each queue and all below it use now of a GPU type, in thousandths of a GPU."""
        return self._taken(self._of_type(gpu_type))

    def _of_type(self, gpu_type: str) -> list[Job]:
        return [job for job in self._running.jobs() if job.machine_gpu_type == gpu_type]

    def held(self) -> defaultdict[str, list[Slot]]:
        """The slots that our jobs have, by machine."""
        return slots_by_machine(self._running.jobs())

    def first_room(self, job: Job) -> Hold | None:
        """Where and when the job has room at the latest, if nobody goes before it; None if that is not known."""
        return first_room(self.of(job.spec.gpu_type), job.job_id)

    def placements(self, decided: Plan, holds: Iterable[Hold] = ()) -> dict[str, Placement]:
        """The slots for jobs that a plan starts, on the machine that it names, or another one if those are split up.

        Jobs for which none has slots are left out. What is kept for others goes to those only that end in time, and
        that of `holds`, which other plans made, to nobody.
        """
        offers = {offer.machine_id: offer for offer in self._inventory.offers()}
        able: dict[tuple[Lane, str], list[MachineOffer]] = {}
        held = self.held()
        for hold in holds:
            held[hold.machine_id] += hold.slots
        gpu_types = {offers[machine_id].gpu_type for machine_id in decided.starts.values() if machine_id in offers}
        kept = [Dated(job_id, "", hold) for job_id, hold in decided.holds.items()]
        kept += [one for gpu_type in gpu_types for one in self.kept(gpu_type)]
        placed: dict[str, Placement] = {}
        for job_id, machine_id in decided.starts.items():
            job, chosen = self._waiting.get(job_id), offers.get(machine_id)
            if job is None or chosen is None:
                continue
            lane = lane_of(job)
            # Each kind of job has the same machines, however many of it start.
            found = able.get((lane, chosen.gpu_type))
            if found is None:
                found = able[lane, chosen.gpu_type] = _able(lane, chosen.gpu_type, offers.values(), self._waiting)
            for offer in sorted(found, key=lambda offer: offer is not chosen):
                taken = [*held[offer.machine_id], *_slots(self.in_front(job, offer, kept))]
                sizes = _sizes(lane.resources, decided.sizes.get(job_id, 0))
                slots = next(filter(None, (offer.slots_for(size, taken) for size in sizes)), ())
                if slots:
                    held[offer.machine_id] += slots
                    placed[job_id] = Placement(offer.machine_id, slots)
                    break
        return placed

    def suitable(self, lane: Lane) -> frozenset[str] | None:
        """The machines that a lane's jobs may run on; None for all."""
        return _suitable(lane, self._inventory.offers(), self._waiting)

    def in_front(self, job: Job, offer: MachineOffer, kept: Iterable[Dated]) -> list[Dated]:
        """What of `kept` is of a machine, for those that begin before the job might end, if it started now."""
        end = self._clock.now() + self.dated.longest_use(job)
        return [one for one in kept if one.hold.machine_id == offer.machine_id and one.hold.time < end]

    def _places_kept(self, gpu_type: str, listed: Iterable[Job]) -> list[Running]:
        """Stand for jobs that are to start again, but for those that are `listed` to take their places themselves."""
        returns = self._expected()
        if not returns:
            return []
        now, machines = self._clock.now(), {job.job_id: job.machine_id for job in self._running.jobs()}
        present = {job.job_id for job in listed}
        return [
            Running(f"place of {job_id}", one.queue, one.stop.machine_id, now, one.stop.eighths, keeps=True)
            for job_id, one in returns.items()
            if one.gpu_type == gpu_type and job_id not in present and machines.get(job_id) != one.stop.machine_id
        ]

    def _expected(self) -> dict[str, _Return]:
        """The jobs that are to start again, without those that are too late."""
        now = self._clock.now()
        return {job_id: one for job_id, one in self._returns.items() if one.until > now}

    def reserved(self, gpu_type: str) -> Mapping[str, int]:
        """What reservations of each queue and of all below it have now of a GPU type, in thousandths of a GPU.

        Submissions above a quota give way to others, and do not count against it here.
        """
        return self._taken(job for job in self._of_type(gpu_type) if job.reservation)

    def _taken(self, jobs: Iterable[Job]) -> Mapping[str, int]:
        return self._book.queues.with_below((job.spec.queue, job.eighths * EIGHTH_MILLI) for job in jobs)

    def waits_for_quota(self, job: Job) -> bool:
        """True of a reservation that is too long to take more than its queue's quota, of which not enough is left."""
        return not job.is_dated and self._over_quota(job, self.reserved(job.spec.gpu_type)) is not None

    def _within_quotas(self, jobs: Iterable[Job], gpu_type: str) -> Iterator[Job]:
        """Leaves out reservations that may not take more than their quotas, and do not fit, with those before them.

        So it does with those for which their queues' limits have no room beside what starts later.
        """
        reserved: Counter[str] | None = None
        for job in jobs:
            if self._is_kept_back(job.of_type(gpu_type)):
                continue
            if self._must_fit_quota(job):
                reserved = Counter(self.reserved(gpu_type)) if reserved is None else reserved
                if self._over_quota(job.of_type(gpu_type), reserved):
                    continue
                reserved[self._book.queues.known(job.spec.queue)] += job.spec.least_milli
            yield job

    def _is_kept_back(self, job: Job) -> bool:
        return bool(self.promised(job)) and self.full_queue(job) is not None

    def _must_fit_quota(self, job: Job) -> bool:
        queues = self._book.queues
        return job.reservation is not None and queues.must_fit_quota(
            queues.known(job.spec.queue), job.reservation.total
        )

    def _over_quota(self, job: Job, reserved: Mapping[str, int]) -> FullQueue | None:
        queues, leaf = self._book.queues, self._book.queues.known(job.spec.queue)
        wants, quota = job.spec.least_milli, queues.quota(leaf, job.spec.gpu_type)
        if reserved.get(leaf, 0) + wants <= quota or not self._must_fit_quota(job):
            return None
        return FullQueue(leaf, quota, queues.longest_borrowing(leaf))

    def _full_queue(self, job: Job, used: Mapping[str, int]) -> FullQueue | None:
        queues = self._book.queues
        for queue in queues.upwards(queues.known(job.spec.queue)):
            limit = queues.share(queue.name, job.spec.gpu_type).limit
            if limit is not None and used.get(queue.name, 0) + job.spec.least_milli > limit:
                return FullQueue(queue.name, limit)
        return None

    def machine(self, offer: MachineOffer, held: Iterable[Slot]) -> Machine:
        """What others have of the machine; if it takes no new leases, they have all that we have nothing of."""
        there = self._inventory.machine(offer.machine_id, held)
        taken = there.others if there.is_ready else (WHOLE_GPU,) * there.gpus
        # A GPU that we have a part of counts as ours, or its holder would be nowhere.
        masks = (0 if mine else mask for mine, mask in zip(there.ours, taken, strict=True))
        return Machine(there.machine_id, there.gpus, tuple(masks))

    def _holders(self, job: Job, offers: Sequence[MachineOffer]) -> Iterator[Running]:
        """The job on its machine, and stand-ins for it on the others that it has."""
        first = self._holder(job, offers)
        yield first
        for rank, lease in enumerate(job.more_leases, 1):
            eighths, slots = lease.eighths, lease.slots
            name = f"machine {rank} of {job.job_id}"
            yield replace(first, job_id=name, machine_id=lease.machine_id, eighths=eighths, slots=slots)

    def _holder(self, job: Job, offers: Sequence[MachineOffer]) -> Running:
        winner = self._running.winner(job.job_id)
        movable = not winner and self._may_move(job)
        return Running(
            job.job_id,
            job.spec.queue,
            job.machine_id,
            job.start_time or job.create_time,
            eighths=job.lease.eighths if job.lease else EIGHTHS_PER_GPU,
            slots=job.lease.slots if job.lease else (),
            stopping=bool(winner),
            gives_way_to=winner,
            # People work on it, and what they have there cannot be moved.
            keeps=job.reservation is not None or job.attempts_excused >= MOST_PREEMPTIONS,
            end_time=(job.start_time or job.create_time) + job.longest_run(self._longest_run),
            # Who wants a new machine for each attempt cannot start again on this one.
            least_eighths=0 if job.own_job_id or self._ends_if_stopped(job) else job.spec.resources.least_eighths,
            movable=movable,
            machines=_suitable(lane_of(job), offers, self._waiting) if movable else None,
        )

    def _may_move(self, job: Job) -> bool:
        ran = self._clock.now() - (job.start_time or job.create_time)
        is_willing = job.spec.movable and job.machine_gpu_type == job.spec.gpu_type
        return is_willing and ran >= MOVE_COOL_DOWN and not self._ends_if_stopped(job)

    def _ends_if_stopped(self, job: Job) -> bool:
        """True if a running job would be back after the last moment for its deadline, and so be cancelled."""
        return job.spec.is_too_late(self._clock.now() + RETURN_TIME, self._longest_run)

    def _candidate(self, job: Job, gpu_type: str, machines: frozenset[str] | None) -> Candidate:
        turn_time = self._waiting.rank(job).turn_time
        promised, resources = self.promises.get(job.job_id, ""), job.spec.resources
        most = resources.eighths if resources.is_range else 0
        back = self._returns.get(job.job_id)
        if back and back.gpu_type == gpu_type:
            promised, most = promised or back.stop.machine_id, min(most, back.stop.eighths)
        limit = self.dated.longest_use(job)
        scores = self._placements.scores(job, gpu_type) if self._placements else None
        return Candidate(
            job.job_id,
            job.spec.queue,
            turn_time,
            resources.least.eighths,
            machines,
            promised,
            limit,
            scores,
            most_eighths=most,
        )


def _slots(kept: Iterable[Dated]) -> list[Slot]:
    return [slot for one in kept for slot in one.hold.slots]


def _suitable(lane: Lane, offers: Sequence[MachineOffer], waiting: Container[str]) -> frozenset[str] | None:
    """The machines that a lane's jobs may run on; None for all.

    If no machine has torch, any will do: it uses the catalogue's problem or refuses.
    """
    able = {
        offer.machine_id
        for offer in offers
        if offer.is_for(lane.own_job_id, waiting) and (lane.resources.is_plain or offer.could_give(lane.resources))
    }
    ready = (offer for offer in offers if offer.stage is MachineStage.READY)
    with_torch = {offer.machine_id for offer in ready if offer.has_torch and offer.machine_id in able}
    if lane.has_definition and with_torch:
        return frozenset(with_torch)
    takes_any = lane.resources.is_plain and not lane.own_job_id
    return None if takes_any and len(able) == len(offers) else frozenset(able)


def _sizes(resources: Resources, eighths: int) -> Iterator[Resources]:
    """What to try for a job that is to get so much: less of a range will do, if that is split up."""
    if not resources.is_range:
        yield resources
        return
    for size in reversed(LEGAL_SIZES):
        if resources.least_eighths <= size <= max(eighths, resources.least_eighths):
            yield resources.sized(size)


def _able(lane: Lane, gpu_type: str, offers: Iterable[MachineOffer], waiting: Container[str]) -> list[MachineOffer]:
    """The machines of a type that take a lane's jobs now, if they have room."""
    of_type = [offer for offer in offers if offer.gpu_type == gpu_type]
    allowed = _suitable(lane, of_type, waiting)
    ready = (offer for offer in of_type if offer.stage is MachineStage.READY)
    return [offer for offer in ready if allowed is None or offer.machine_id in allowed]


def _preferred_first(offers: Iterable[MachineOffer]) -> list[MachineOffer]:
    """The machine that was used last first: its caches are warm, and the others may idle out."""
    return sorted(offers, key=lambda offer: (offer.last_used_time, offer.machine_id), reverse=True)
