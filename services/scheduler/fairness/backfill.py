"""Keeps room for the first job that finds none, and lets only jobs behind it into that room that end in time.

Without this, a job of many GPUs would wait for ever behind small ones, each of which fits at once. The first job that
waits in a queue gets a hold if the queue may have what it takes: slots of one machine from an instant on, by which the
runs there have ended at the latest, as each run has a time limit. Until then, what is free of these slots goes only to
jobs that end by it. A hold is found again in each pass. Its instant never moves back: no job that would be late is let
in, and runs that end early move it forward.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
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


def with_holds(situation: Situation, decide: Callable[[Situation], Plan]) -> Plan:
    """The plan of a policy with holds. If no job starts, or none waits for room, it is the policy's own."""
    decided = decide(situation)
    places = _places(situation, decided) if decided.starts else []
    if places:
        situation = replace(situation, running=[*situation.running, *places])
        decided = decide(situation)
    heads = _heads(situation, decided) if decided.starts else []
    if not heads:
        return decided
    moves = _moves_for(heads, situation, decide)
    if moves is not None:
        return replace(moves, waiting={**decided.waiting, **moves.waiting})
    busy = _busy(situation)
    holds: dict[str, Hold] = {}
    holders: list[Running] = []
    for head in heads:
        found = _first(head, busy, situation.now)
        if found is not None:
            hold, busy[hold.machine_id], free = found
            holds[head.job_id] = hold
            holders += [
                stand_in(f"hold on GPU {slots[0].gpu}", head, hold.machine_id, slots, situation.now) for slots in free
            ]
    if not holds:
        return decided
    kept = decide(replace(situation, running=[*situation.running, *holders]))
    return _backfilled(situation, kept, holds, decide)


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


def _places(situation: Situation, decided: Plan) -> list[Running]:
    """Stand on what is free of the machines on which others gave way, for the winners that do not fit there yet.

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
            found.append(stand_in("place", one, one.promised, slots, situation.now))
    return found


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


def _first(head: Candidate, busy: dict[str, _Busy], now: datetime) -> tuple[Hold, _Busy, list[tuple[Slot, ...]]] | None:
    """The earliest hold for the job, its machine with the hold, and what is free of it now, by GPU."""
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
    free = [free_of(slot, before.occupied) for slot in slots]
    # For good: the next head counts on other slots.
    rest = tuple((end, tuple(one for one in held if not any(map(one.overlaps, slots)))) for end, held in before.ends)
    after = _Busy(covered(before.occupied, slots), rest)
    return Hold(name, time, slots), after, [slots for slots in free if slots]


def free_of(slot: Slot, occupied: Sequence[int]) -> tuple[Slot, ...]:
    """The slot if nobody has a part of it, or else its free eighths."""
    if not occupied[slot.gpu] & slot.mask:
        return (slot,)
    eighths = (Slot(slot.gpu, first, 1) for first in range(slot.first, slot.first + slot.eighths))
    return tuple(one for one in eighths if not occupied[one.gpu] & one.mask)


def stand_in(name: str, one: Candidate | Dated, machine_id: str, slots: tuple[Slot, ...], now: datetime) -> Running:
    """Stands on free slots in place of the job, so that a plan gives them to nobody."""
    eighths = sum(slot.eighths for slot in slots)
    return Running(f"{name} of {one.job_id}", one.queue, machine_id, now, eighths, slots, keeps=True)


def _backfilled(situation: Situation, kept: Plan, holds: dict[str, Hold], decide: Callable[[Situation], Plan]) -> Plan:
    """The plan with the jobs that end before a hold begins, in its free slots."""
    left = [one for one in situation.waiting if one.job_id not in {*kept.starts, *kept.promises, *holds}]
    short = [limited for one in left if (limited := _limited(one, holds, situation.now))]
    of_heads = {job_id: str(hold) for job_id, hold in holds.items() if job_id not in kept.starts}
    waiting = {**kept.waiting, **of_heads}
    kept = replace(kept, waiting=waiting, holds=holds)
    if not short:
        return kept
    filled = filled_up(situation, kept, short, decide)
    return replace(filled, backfilled=frozenset(filled.starts.keys() - kept.starts.keys()))


def filled_up(
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


def _limited(one: Candidate, holds: dict[str, Hold], now: datetime) -> Candidate | None:
    """The job, on the machines with holds that it leaves in time; None if there are none."""
    if one.time_limit is None:
        return None
    late = {hold.machine_id for hold in holds.values() if now + one.time_limit > hold.time}
    machines = frozenset({hold.machine_id for hold in holds.values()} - late)
    allowed = machines if one.machines is None else machines & one.machines
    return replace(one, machines=allowed) if allowed else None
