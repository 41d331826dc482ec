"""Plans of the `kueue` policy: quotas decide who is admitted, and free machines who of those can start now."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from services.scheduler.fairness.kueue.admission_cycle import Outcome
from services.scheduler.fairness.kueue.admission_pass import admission_pass
from services.scheduler.fairness.kueue.queue_spec import (
    CohortSpec,
    FlavorResource,
    Preemption,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
)
from services.scheduler.fairness.kueue.quota_tree import quota_tree
from services.scheduler.fairness.kueue.snapshot import Admitted, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing
from services.scheduler.fairness.queue_tree import UNLIMITED, WHOLE_GPU_MILLI, ReclaimStrategy
from services.scheduler.fairness.situation import Plan, QueueState, Stop
from vocabulary.slots import EIGHTH_MILLI, covered, free_eighths, free_slots, freed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from services.scheduler.fairness.kueue.admission_cycle import Decision
    from services.scheduler.fairness.situation import Candidate, Running, Situation
    from vocabulary.slots import Slot

_GPU = "gpu"
_NEXT = timedelta.resolution
_NOT_STOPPED = "those that give way to it have not stopped yet"
_NO_MACHINE = "its queue has the quota for it, and no machine has a free GPU that it may use"


def kueue_plan(situation: Situation) -> Plan:
    """The plan by quotas and dominant resource shares.

    There is never more to give than the machines have: a queue's quota counts up to all GPUs of the type. A job that is
    admitted and finds no machine waits without holding quota.
    """
    return _Planner(situation).plan()


class _Planner:
    """One plan. Passes of the engine go on until no job takes anything from another any more.

    A job that others give way to counts as admitted already, and those that give way as gone.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._tree = quota_tree(*_specs(situation))
        self._places = _Places(situation)
        self._candidates = {one.job_id: one for one in _one_after_the_other(situation)}
        self._holding = {one.job_id: _admitted(situation, one) for one in situation.running}
        self._starts: dict[str, str] = {}
        self._promises: dict[str, str] = {}
        self._waiting: dict[str, str] = {}
        self._no_room: set[str] = set()
        self._stops: list[Stop] = []

    def plan(self) -> Plan:
        self._keep_promises()
        while self._pass():
            pass
        states = _states(self._situation, self._starts)
        return Plan(self._starts, tuple(self._stops), self._promises, self._waiting, states)

    def _keep_promises(self) -> None:
        for one in self._situation.waiting:
            if not one.promised:
                continue
            giving = [other for other in self._situation.running if other.gives_way_to == one.job_id]
            if giving:
                self._promise(one, one.promised, [other.job_id for other in giving], _NOT_STOPPED)
            elif machine_id := self._places.take(one):
                self._starts[one.job_id] = machine_id
                self._hold(one)

    def _pass(self) -> bool:
        """Runs the engine once. True if the rest is to be decided again: a job takes from others, or finds no room."""
        snapshot = snapshot_of(self._tree, self._holding.values())
        decided = self._holding.keys() | self._no_room
        waiting = [one for job_id, one in self._candidates.items() if job_id not in decided]
        workloads = [_workload(self._situation, one) for one in waiting]
        result = admission_pass(snapshot, workloads, self._situation.now, sharing=FairSharing())
        for decision in result.decisions:
            job = self._candidates[decision.workload.name]
            self._waiting[job.job_id] = decision.reason
            if decision.outcome is Outcome.PREEMPTING and self._take_from(job, decision):
                return True
        before = len(self._no_room)
        for decision in result.decisions:
            if decision.outcome is Outcome.ADMITTED:
                self._start(self._candidates[decision.workload.name])
        return len(self._no_room) > before and self._places.has_room

    def _start(self, job: Candidate) -> None:
        machine_id = self._places.take(job)
        if machine_id:
            self._starts[job.job_id] = machine_id
            self._hold(job)
            del self._waiting[job.job_id]
        else:
            self._waiting[job.job_id] = _NO_MACHINE
            self._no_room.add(job.job_id)

    def _take_from(self, job: Candidate, decision: Decision) -> bool:
        victims = [victim.admitted.workload.name for victim in decision.victims]
        if any(victim in self._candidates for victim in victims):
            self._waiting[job.job_id] = "it would take GPUs from a job that is just about to get them"
            return False
        protected = _protected(self._situation, job, victims)
        machine_id = self._places.given_by(victims, job)
        if protected or not machine_id:
            self._waiting[job.job_id] = protected or "its GPUs would be on different machines"
            return False
        self._stops += [Stop(one, job.job_id, decision.reason) for one in victims if not self._places.is_stopping(one)]
        self._promise(job, machine_id, victims, decision.reason)
        return True

    def _promise(self, job: Candidate, machine_id: str, giving: list[str], reason: str) -> None:
        self._promises[job.job_id] = machine_id
        self._waiting[job.job_id] = reason
        for one in giving:
            self._holding.pop(one, None)
        self._places.move(giving, job, machine_id)
        self._hold(job)

    def _hold(self, job: Candidate) -> None:
        workload = _workload(self._situation, job)
        usage = {_resource(self._situation): job.eighths * EIGHTH_MILLI}
        self._holding[job.job_id] = Admitted(workload, usage, self._situation.now)


class _Places:
    """Free slots of machines, which come in the order of preference.

    Of those with room, the one with the job's best score is taken, or without scores the fullest.
    """

    def __init__(self, situation: Situation) -> None:
        self._machines = {machine.machine_id: machine for machine in situation.machines}
        self._occupied = {one.machine_id: one.taken or (0,) * one.gpus for one in situation.machines}
        self._running = {one.job_id: one for one in situation.running}
        self._slots: dict[str, tuple[Slot, ...]] = {}
        for one in situation.running:
            occupied = self._occupied.get(one.machine_id)
            if occupied is not None:
                self._slots[one.job_id] = one.slots or free_slots(occupied, one.eighths)
                self._take(one.machine_id, self._slots[one.job_id])

    @property
    def has_room(self) -> bool:
        """True if anything is free."""
        return any(map(free_eighths, self._occupied.values()))

    def take(self, job: Candidate) -> str:
        """The machine, whose slots it then has; empty if none has room."""
        found = {
            name: slots
            for name, occupied in self._occupied.items()
            if _may_use(job, name) and (slots := free_slots(occupied, job.eighths))
        }
        if not found:
            return ""
        # Of equal ones the first, as `min` does.
        scores = self._scores(job, list(found))
        best = min(found, key=lambda name: (name != job.promised, -scores[name]))
        self._take(best, found[best])
        return best

    def _scores(self, job: Candidate, fitting: list[str]) -> Mapping[str, float]:
        if job.scores is None:
            return {name: -free_eighths(self._occupied[name]) for name in fitting}
        rooms = [(self._machines[name], self._occupied[name].count(0)) for name in fitting]
        return dict(zip(fitting, job.scores(rooms), strict=True))

    def given_by(self, victims: list[str], job: Candidate) -> str:
        """The machine on which the job fits when these have stopped; empty if there is none."""
        given: defaultdict[str, list[Slot]] = defaultdict(list)
        for victim in victims:
            given[self._running[victim].machine_id] += self._slots.get(victim, ())
        return next(
            (
                name
                for name, slots in given.items()
                if name in self._occupied
                and _may_use(job, name)
                and free_slots(freed(self._occupied[name], slots), job.eighths)
            ),
            "",
        )

    def move(self, victims: list[str], job: Candidate, machine_id: str) -> None:
        """Keeps what these give for the job."""
        for victim in victims:
            name = self._running[victim].machine_id
            if name in self._occupied:
                self._occupied[name] = freed(self._occupied[name], self._slots[victim])
        self._take(machine_id, free_slots(self._occupied.get(machine_id, ()), job.eighths))

    def is_stopping(self, job_id: str) -> bool:
        """True if the job gives way already."""
        return self._running[job_id].stopping

    def _take(self, machine_id: str, slots: Sequence[Slot]) -> None:
        if machine_id in self._occupied:
            self._occupied[machine_id] = covered(self._occupied[machine_id], slots)


def _one_after_the_other(situation: Situation) -> Iterator[Candidate]:
    """The waiting jobs, each later than the one before it in its queue: the engine orders equal ones by their names."""
    last: dict[str, datetime] = {}
    for one in situation.waiting:
        queue = situation.queue_of(one)
        turn_time = max(one.turn_time, last[queue] + _NEXT) if queue in last else one.turn_time
        last[queue] = turn_time
        yield one if turn_time == one.turn_time else replace(one, turn_time=turn_time)


def _may_use(job: Candidate, machine_id: str) -> bool:
    return job.machines is None or machine_id in job.machines


def _resource(situation: Situation) -> FlavorResource:
    return FlavorResource(situation.gpu_type, _GPU)


def _specs(situation: Situation) -> tuple[list[QueueSpec], list[CohortSpec]]:
    queues, resource, total = situation.queues, _resource(situation), situation.own_milli
    tree = queues.tree(situation.gpu_type)
    specs: list[QueueSpec] = []
    cohorts: list[CohortSpec] = []
    for name in queues.order:
        queue, said, is_leaf = tree.queues[name], queues.share(name, situation.gpu_type), name in queues.leaves
        # A queue at the top that says nothing has all there is; elsewhere it borrows.
        has_all = is_leaf and queue.parent is None and said.quota is None
        nominal = total if has_all else min(queue.quota.gpu_milli, total)
        # A parent's quota includes its children's; here, what it owns comes on top of theirs.
        nominal = max(0, nominal - sum(child.quota.gpu_milli for child in tree.children(name)))
        borrowing, limit = said.borrowing_limit, queue.limit.gpu_milli
        if limit < UNLIMITED:
            up_to_limit = max(0, limit - nominal)
            borrowing = up_to_limit if borrowing is None else min(borrowing, up_to_limit)
            nominal = min(nominal, limit)
        # Nobody lends more than it has, and it may have less than it was promised while machines are few.
        lending = None if said.lending_limit is None else min(said.lending_limit, nominal)
        quota = Quota(nominal, borrowing, lending) if queue.parent else Quota(nominal)
        weight = Fraction(queue.weight.gpu_milli, WHOLE_GPU_MILLI)
        if is_leaf:
            specs.append(QueueSpec(name, queue.parent, {resource: quota}, weight, _preemption(situation)))
        else:
            cohorts.append(CohortSpec(name, queue.parent, {resource: quota}, weight))
    return specs, cohorts


def _preemption(situation: Situation) -> Preemption:
    within = ReclaimWithinCohort.ANY if situation.may_stop else ReclaimWithinCohort.NEVER
    return Preemption(reclaim_within_cohort=within)


def _workload(situation: Situation, one: Candidate) -> Workload:
    # The engine orders a queue by time alone. Candidates come in their order, which priority has a part in.
    return Workload(one.job_id, situation.queue_of(one), 0, {_GPU: one.eighths * EIGHTH_MILLI}, one.turn_time)


def _admitted(situation: Situation, one: Running) -> Admitted:
    amounts = one.eighths * EIGHTH_MILLI
    workload = Workload(one.job_id, situation.queue_of(one), 0, {_GPU: amounts}, one.start_time)
    usage = {_resource(situation): amounts}
    return Admitted(workload, usage, one.start_time, is_evicting=one.stopping, keeps=one.keeps and not one.stopping)


def _protected(situation: Situation, winner: Candidate, victims: list[str]) -> str:
    """Which victim has not run long enough to give way; empty if all have, or the winner need not wait for that."""
    queues = situation.queues
    if queues.reclaim_strategy(situation.queue_of(winner)) is ReclaimStrategy.AGGRESSIVE:
        return ""
    for one in situation.running:
        least = queues.reclaim_min_runtime(situation.queue_of(one))
        if one.job_id in victims and not one.stopping and situation.now - one.start_time < least:
            return f"{one.job_id} would give way, and is protected until it has run for {least.total_seconds():g} s"
    return ""


def _states(situation: Situation, starts: Mapping[str, str]) -> dict[str, QueueState]:
    jobs: list[Candidate | Running] = [
        *situation.running,
        *(one for one in situation.waiting if one.job_id in starts),
    ]
    used = situation.queues.with_below((job.queue, job.eighths * EIGHTH_MILLI) for job in jobs)
    tree = situation.queues.tree(situation.gpu_type)
    return {
        name: QueueState(queue.quota[0], min(queue.quota[0], situation.own_milli), used[name], queue.limit[0])
        for name, queue in tree.queues.items()
    }
