"""Gives jobs that take a range of GPUs more than the least, once all that start have it.

A policy decides who starts with the least. What is free then is given in rounds: each such job doubles what it has, the
first in its turn first, while its machine has room, its queue may have so much, and nothing of that is kept for others.
On a machine on which others give way, or to which they move, nobody gets more: what is free there may be theirs.
"""

from __future__ import annotations

from dataclasses import replace

from services.scheduler.fairness.backfill import may_have, occupied
from services.scheduler.fairness.situation import Candidate, Plan, Situation
from vocabulary.slots import EIGHTH_MILLI, covered, free_slots


def grown(situation: Situation, decided: Plan) -> Plan:
    """The plan with the sizes of those that get more than the least."""
    ranges = [one for one in situation.waiting if one.most_eighths and one.job_id in decided.starts]
    if not ranges:
        return decided
    growth = _Growth(situation, decided)
    while ranges:
        ranges = [one for one in ranges if growth.double(one)]
    return replace(decided, sizes=growth.sizes, queues=growth.states)


class _Growth:
    """What is left of machines and of the queues' shares."""

    def __init__(self, situation: Situation, decided: Plan) -> None:
        self._situation = situation
        self._starts = decided.starts
        self._starting = {one.job_id: one.eighths for one in situation.waiting if one.job_id in decided.starts}
        self._occupied = occupied(situation)
        for hold in decided.holds.values():
            self._occupied[hold.machine_id] = covered(self._occupied[hold.machine_id], hold.slots)
        self._places = {*decided.promises.values(), *(stop.machine_id for stop in decided.stops)}
        self.states = dict(decided.queues)
        self.sizes: dict[str, int] = {}

    def double(self, job: Candidate) -> bool:
        """Doubles what the job gets; False if it stays as it is."""
        has = self._starting[job.job_id]
        if self._starts[job.job_id] in self._places:
            return False
        if 2 * has > job.most_eighths or not may_have(self._situation, self.states, self._situation.queue_of(job), has):
            return False
        self._starting[job.job_id] = 2 * has
        if not self._has_room(self._starts[job.job_id]):
            self._starting[job.job_id] = has
            return False
        self.sizes[job.job_id] = 2 * has
        for queue in self._situation.queues.upwards(self._situation.queue_of(job)):
            state = self.states[queue.name]
            self.states[queue.name] = state._replace(used=state.used + has * EIGHTH_MILLI)
        return True

    def _has_room(self, machine_id: str) -> bool:
        """True if all that start on the machine have slots there, the largest first."""
        taken = self._occupied[machine_id]
        sizes = sorted((self._starting[job] for job, name in self._starts.items() if name == machine_id), reverse=True)
        for size in sizes:
            slots = free_slots(taken, size)
            if not slots:
                return False
            taken = covered(taken, slots)
        return True
