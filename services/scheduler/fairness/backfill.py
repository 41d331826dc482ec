"""Keeps GPUs free in time, for reservations that start later and for jobs that find no room: others end by then.

Without holds, a job of many GPUs would wait for ever behind small ones, each of which fits at once. The first job that
waits in a queue gets a hold if the queue may have what it takes: slots of one machine from an instant on, by which the
runs there have ended at the latest, as each run has a time limit. A hold is found again in each pass. Its instant never
moves back: no job that would be late is let in, and runs that end early move it forward.

A policy decides first as if all that is kept were taken, and nobody is stopped there. Then it decides once more for
each begin, the last one first, on what is kept from that begin on, for those alone that end by it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from services.scheduler.fairness.settings import FairnessPolicy
from services.scheduler.fairness.situation import (
    Candidate,
    Dated,
    Hold,
    Machine,
    Plan,
    QueueState,
    Running,
    Situation,
    StopKind,
)
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU, Slot, covered, free_slots, freed

MOST_HOLDS = 4
"""Of one pass: the first queues whose jobs lack room."""


def with_kept(situation: Situation, decide: Callable[[Situation], Plan]) -> Plan:
    """The plan of a policy that gives what is kept only to those that end in time."""
    near = _near(situation)
    decided = _with_holds(_without(situation, near), decide)
    for begin in sorted({hold.time for hold in (*(one.hold for one in near), *decided.holds.values())}, reverse=True):
        left = [one for one in _left(situation, decided) if _ends_by(one, begin, situation)]
        if left:
            closed = _without(situation, [one for one in near if one.hold.time < begin])
            holds = {job_id: hold for job_id, hold in decided.holds.items() if hold.time < begin}
            filled = _filled_up(_with_places(_behind(closed, holds), decided), decided, left, decide)
            decided = filled if len(filled.starts) > len(decided.starts) else decided
    return decided


def behind_dated(situation: Situation) -> Situation:
    """The situation without all that is kept for later from those that might end too late for it."""
    return _without(situation, _near(situation))


def _near(situation: Situation) -> list[Dated]:
    """What is kept so soon that some job might end too late for it."""
    limits = [one.time_limit for one in situation.waiting]
    bounded = [limit for limit in limits if limit is not None]
    if len(bounded) < len(limits):
        return list(situation.dated)
    latest = situation.now + max(bounded) if bounded else situation.now
    return [one for one in situation.dated if one.hold.time < latest]


def _ends_by(one: Candidate, begin: datetime, situation: Situation) -> bool:
    return one.time_limit is not None and situation.now + one.time_limit <= begin


def _left(situation: Situation, decided: Plan) -> list[Candidate]:
    known = decided.starts.keys() | decided.promises.keys() | decided.holds.keys()
    return [one for one in situation.waiting if one.job_id not in known]


def _without(situation: Situation, kept: Sequence[Dated]) -> Situation:
    """The situation in which what is kept is somebody else's. Nobody is stopped there: it would help nobody."""
    if not kept:
        return situation
    slots = defaultdict[str, list[Slot]](list)
    for one in kept:
        slots[one.hold.machine_id] += one.hold.slots
    masks = occupied(situation)
    guarded = {
        run.job_id
        for run in situation.running
        if any(slot.overlaps(own) for slot in slots[run.machine_id] for own in run.slots)
    }
    running = [
        replace(run, keeps=True, movable=False, least_eighths=0) if run.job_id in guarded else run
        for run in situation.running
    ]
    # A GPU that somebody has a part of counts as ours in a situation. What is free of it is taken part by part.
    parts = [
        _stand_in(f"{part} on {one.hold.machine_id}", one, one.hold.machine_id, (part,), situation.now)
        for one in kept
        for slot in one.hold.slots
        if slot.gpu < len(taken := masks.get(one.hold.machine_id, ())) and taken[slot.gpu]
        for part in _free_of(slot, taken)
    ]
    machines = [_with_taken(machine, slots[machine.machine_id], masks) for machine in situation.machines]
    return replace(situation, machines=machines, running=[*running, *parts], dated=())


def _with_taken(machine: Machine, slots: Iterable[Slot], masks: Mapping[str, Sequence[int]]) -> Machine:
    free = [slot for slot in slots if not masks[machine.machine_id][slot.gpu]]
    return replace(machine, taken=covered(machine.taken or (0,) * machine.gpus, free)) if free else machine


def _behind(situation: Situation, holds: Mapping[str, Hold]) -> Situation:
    """The situation in which jobs that wait have what is free of their holds, which their queues use."""
    if not holds:
        return situation
    masks, jobs = occupied(situation), {one.job_id: one for one in situation.waiting}
    holders = [
        _stand_in(f"hold on GPU {slot.gpu}", jobs[job_id], hold.machine_id, free, situation.now)
        for job_id, hold in holds.items()
        for slot in hold.slots
        if (free := _free_of(slot, masks[hold.machine_id]))
    ]
    return replace(situation, running=[*situation.running, *holders])


def _with_holds(situation: Situation, decide: Callable[[Situation], Plan]) -> Plan:
    """The plan of a policy with holds. If no job starts, or none waits for room, it is the policy's own."""
    decided = decide(situation)
    placed = _with_places(situation, decided) if decided.starts else situation
    if placed is not situation:
        situation, decided = placed, decide(placed)
    heads = _heads(situation, decided) if decided.starts else []
    if not heads:
        return decided
    moves = _moves_for(heads, situation, decide)
    if moves is not None:
        return replace(moves, waiting={**decided.waiting, **moves.waiting})
    busy = _busy(situation)
    holds: dict[str, Hold] = {}
    for head in heads:
        if found := _first(head, busy, situation.now):
            holds[head.job_id], busy[found[0].machine_id] = found
    if not holds:
        return decided
    kept = decide(_behind(situation, holds))
    of_heads = {job_id: str(hold) for job_id, hold in holds.items() if job_id not in kept.starts}
    return replace(kept, waiting={**kept.waiting, **of_heads}, holds=holds)


def _moves_for(heads: Sequence[Candidate], situation: Situation, decide: Callable[[Situation], Plan]) -> Plan | None:
    """A plan that moves runs so that heads fit; None if there is none.

    Small jobs would take the places that the runs could move to. They are left out of this plan, and start in the next.
    """
    if not situation.may_stop or not any(one.movable for one in situation.running):
        return None
    further = Counter(situation.further_eighths)
    for one in situation.waiting:
        if one not in heads:
            further[situation.queue_of(one)] += one.eighths
    found = decide(replace(situation, waiting=heads, further_eighths=further))
    return found if any(stop.kind is StopKind.MOVES for stop in found.stops) else None


def first_room(situation: Situation, job_id: str) -> Hold | None:
    """Where and when a waiting job has room at the latest, if nobody goes before it; None if that is not known."""
    one = next((one for one in situation.waiting if one.job_id == job_id), None)
    found = _first(one, _busy(situation), situation.now) if one else None
    return found[0] if found else None


def _busy(situation: Situation) -> dict[str, _Busy]:
    by_machine: defaultdict[str, list[Running]] = defaultdict(list)
    for one in situation.running:
        by_machine[one.machine_id].append(one)
    return {one.machine_id: _Busy.of(one, by_machine[one.machine_id]) for one in situation.machines}


def occupied(situation: Situation) -> dict[str, tuple[int, ...]]:
    """The taken eighths of each machine's GPUs, by others or by runs."""
    return {name: one.occupied for name, one in _busy(situation).items()}


def _with_places(situation: Situation, decided: Plan) -> Situation:
    """The situation in which winners that do not fit yet have what is free of the machines on which others gave way.

    The pool says a moment later than we know it that a run has stopped, and others would start there meanwhile.
    """
    late = [one for one in situation.waiting if one.promised and one.job_id not in {*decided.starts, *decided.promises}]
    taken = occupied(situation) if late else {}
    found: list[Running] = []
    for one in late:
        free = [gpu for gpu, mask in enumerate(taken.get(one.promised, ())) if not mask]
        slots = tuple(Slot(gpu, 0, EIGHTHS_PER_GPU) for gpu in free[: one.eighths // EIGHTHS_PER_GPU])
        if slots:
            taken[one.promised] = covered(taken[one.promised], slots)
            found.append(_stand_in("place", one, one.promised, slots, situation.now))
    return replace(situation, running=[*situation.running, *found]) if found else situation


def _heads(situation: Situation, decided: Plan) -> list[Candidate]:
    """The first job of each queue that waits, if the queue may have what it takes."""
    heads: dict[str, Candidate] = {}
    for one in situation.waiting:
        if one.job_id not in decided.starts and one.job_id not in decided.promises:
            heads.setdefault(situation.queue_of(one), one)
    starting = [one for one in situation.waiting if one.job_id in decided.starts]
    of_starts = {situation.queue_of(one) for one in starting}
    # A job that is no larger than all that start finds room as they do, when its turn comes. One for which others gave
    # way has its place, though the pool may not have said yet that it is free: a hold could take theirs from them.
    smallest = min(one.eighths for one in starting)
    heads = {queue: one for queue, one in heads.items() if one.eighths > smallest and not one.promised}
    allowed = [
        one
        for queue, one in heads.items()
        if may_have(situation, decided.queues, queue, one.eighths, is_alone=of_starts == {queue})
    ]
    return allowed[:MOST_HOLDS]


def may_have(
    situation: Situation, states: Mapping[str, QueueState], leaf: str, eighths: int, *, is_alone: bool = False
) -> bool:
    """True if a queue may have so much more, if there is room: it is owed that, or is alone and wants no more."""
    queues, takes = situation.queues, eighths * EIGHTH_MILLI
    for queue in queues.upwards(leaf):
        state = states[queue.name]
        if state.used + takes > state.limit:
            return False
    own = states[leaf]
    if queues.policy is FairnessPolicy.KUEUE:
        # Beyond its quota it borrows, and nobody owes it that.
        has_all = queues.share(leaf, situation.gpu_type).quota is None and not next(queues.upwards(leaf)).parent
        return has_all or own.used + takes <= own.quota
    return is_alone or own.used + takes <= max(own.quota, own.fair_share)


class _Busy(NamedTuple):
    """What is taken of a machine: for good, and until when at the latest by each run with a time limit."""

    occupied: tuple[int, ...]
    ends: tuple[tuple[datetime, tuple[Slot, ...]], ...]

    @classmethod
    def of(cls, machine: Machine, running: Sequence[Running]) -> _Busy:
        occupied = machine.taken or (0,) * machine.gpus
        ends: list[tuple[datetime, tuple[Slot, ...]]] = []
        for one in running:
            slots = one.slots or free_slots(occupied, one.eighths)
            occupied = covered(occupied, slots)
            if one.end_time is not None:
                ends.append((one.end_time, slots))
        return cls(occupied, tuple(sorted(ends)))

    def slots_at_last(self, eighths: int, now: datetime) -> tuple[datetime, tuple[Slot, ...]] | None:
        """The first instant after now at which so much is free at the latest, and where; None if that never comes."""
        occupied = self.occupied
        if free_slots(occupied, eighths):
            return None
        for end, slots in self.ends:
            occupied = freed(occupied, slots)
            if found := free_slots(occupied, eighths):
                return max(end, now), found
        return None


def _first(head: Candidate, busy: dict[str, _Busy], now: datetime) -> tuple[Hold, _Busy] | None:
    """The earliest hold for the job, and its machine with the hold."""
    at_last = {
        name: found
        for name, one in busy.items()
        if (head.machines is None or name in head.machines) and (found := one.slots_at_last(head.eighths, now))
    }
    if not at_last:
        return None
    name = min(at_last, key=lambda name: at_last[name][0])
    time, slots = at_last[name]
    before = busy[name]
    # For good: the next head counts on other slots.
    rest = tuple((end, tuple(one for one in held if not any(map(one.overlaps, slots)))) for end, held in before.ends)
    after = _Busy(covered(before.occupied, slots), rest)
    return Hold(name, time, slots), after


def _free_of(slot: Slot, occupied: Sequence[int]) -> tuple[Slot, ...]:
    """The slot if nobody has a part of it, or else its free eighths."""
    if not occupied[slot.gpu] & slot.mask:
        return (slot,)
    eighths = (Slot(slot.gpu, first, 1) for first in range(slot.first, slot.first + slot.eighths))
    return tuple(one for one in eighths if not occupied[one.gpu] & one.mask)


def _stand_in(name: str, one: Candidate | Dated, machine_id: str, slots: tuple[Slot, ...], now: datetime) -> Running:
    """Stands on free slots in place of the job, so that a plan gives them to nobody."""
    eighths = sum(slot.eighths for slot in slots)
    return Running(f"{name} of {one.job_id}", one.queue, machine_id, now, eighths, slots, keeps=True)


def _filled_up(
    situation: Situation, decided: Plan, left: Sequence[Candidate], decide: Callable[[Situation], Plan]
) -> Plan:
    """The plan with those of `left` that start on what is free beside those that it starts; nobody is stopped."""
    by_id = {one.job_id: one for one in situation.waiting}
    started = [
        Running(job_id, by_id[job_id].queue, machine_id, situation.now, by_id[job_id].eighths, keeps=True)
        for job_id, machine_id in decided.starts.items()
    ]
    running = [*situation.running, *started]
    filled = decide(replace(situation, running=running, waiting=left, further_eighths={}, may_stop=False))
    return replace(
        decided,
        starts={**decided.starts, **filled.starts},
        waiting={job_id: why for job_id, why in decided.waiting.items() if job_id not in filled.starts},
        queues=filled.queues,
    )
