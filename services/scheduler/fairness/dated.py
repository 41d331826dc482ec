"""Keeps the GPUs of reservations that start later free in time: until then only jobs get them that end by then.

As with the holds of `backfill.py`, a policy decides first as if what is kept were taken, and nobody is stopped there.
Then it decides once more for each begin, the last one first, on what is kept from that begin on, for those
alone that end by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from services.scheduler.fairness.backfill import filled_up, free_of, occupied, stand_in
from services.scheduler.fairness.situation import Candidate, Dated, Machine, Plan, Situation
from vocabulary.slots import Slot, covered


def with_dated(situation: Situation, decide: Callable[[Situation], Plan]) -> Plan:
    """The plan of a policy that gives what is kept for dated reservations only to those that end in time."""
    near = _near(situation)
    if not near:
        return decide(situation)
    decided = decide(_without(situation, near))
    for begin in sorted({one.hold.time for one in near}, reverse=True):
        left = [one for one in _left(situation, decided) if _ends_by(one, begin, situation)]
        if left:
            closed = [one for one in near if one.hold.time < begin]
            decided = _filled(situation, decided, closed, left, decide)
    return decided


def behind_dated(situation: Situation) -> Situation:
    """The situation without all that is kept from those that might end too late for it."""
    near = _near(situation)
    return _without(situation, near) if near else situation


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
    return [one for one in situation.waiting if one.job_id not in decided.starts and one.job_id not in decided.promises]


def _without(situation: Situation, kept: Sequence[Dated]) -> Situation:
    """The situation in which what is kept is somebody else's. Nobody is stopped there: it would help nobody."""
    slots = _by_machine(kept)
    masks = occupied(situation)
    guarded = {
        run.job_id
        for run in situation.running
        if any(slot.overlaps(own) for slot in slots.get(run.machine_id, ()) for own in run.slots)
    }
    running = [
        replace(run, keeps=True, movable=False, least_eighths=0) if run.job_id in guarded else run
        for run in situation.running
    ]
    # A GPU that somebody has a part of counts as ours in a situation. What is free of it is taken part by part.
    parts = [
        stand_in(f"{part} on {one.hold.machine_id}", one, one.hold.machine_id, (part,), situation.now)
        for one in kept
        for slot in one.hold.slots
        if slot.gpu < len(taken := masks.get(one.hold.machine_id, ())) and taken[slot.gpu]
        for part in free_of(slot, taken)
    ]
    machines = [_with_taken(machine, slots.get(machine.machine_id, ()), masks) for machine in situation.machines]
    return replace(situation, machines=machines, running=[*running, *parts], dated=())


def _by_machine(kept: Iterable[Dated]) -> dict[str, list[Slot]]:
    slots: defaultdict[str, list[Slot]] = defaultdict(list)
    for one in kept:
        slots[one.hold.machine_id] += one.hold.slots
    return dict(slots)


def _with_taken(machine: Machine, slots: Iterable[Slot], masks: Mapping[str, Sequence[int]]) -> Machine:
    free = [slot for slot in slots if not masks[machine.machine_id][slot.gpu]]
    return replace(machine, taken=covered(machine.taken or (0,) * machine.gpus, free)) if free else machine


def _filled(
    situation: Situation,
    decided: Plan,
    closed: Sequence[Dated],
    left: Sequence[Candidate],
    decide: Callable[[Situation], Plan],
) -> Plan:
    """The plan with those of `left` that start on what is free, but for what is `closed` and what others start on."""
    by_id = {one.job_id: one for one in situation.waiting}
    masks = occupied(situation)
    holds = [
        stand_in(f"hold on GPU {slot.gpu}", by_id[job_id], hold.machine_id, (slot,), situation.now)
        for job_id, hold in decided.holds.items()
        for slot in hold.slots
        if not masks[hold.machine_id][slot.gpu]
    ]
    guarded = _without(situation, closed)
    filled = filled_up(replace(guarded, running=[*guarded.running, *holds]), decided, left, decide)
    return filled if len(filled.starts) > len(decided.starts) else decided
