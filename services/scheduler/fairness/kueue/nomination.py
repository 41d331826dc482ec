"""Nominees of an admission cycle: the workload at the head of each queue, with its flavors and its victims."""

from __future__ import annotations

from dataclasses import dataclass

from services.scheduler.fairness.kueue.flavor_assignment import Assignment, Mode, assign_flavors
from services.scheduler.fairness.kueue.preemption import Preemptor, Victim
from services.scheduler.fairness.kueue.quota_tree import QuotaNode
from services.scheduler.fairness.kueue.snapshot import Snapshot, Workload
from services.scheduler.fairness.kueue.victims import FairSharing, find_victims


@dataclass(frozen=True)
class Nominee:
    """A workload that is next in its queue."""

    workload: Workload
    queue: QuotaNode
    assignment: Assignment
    victims: tuple[Victim, ...]
    """Who would have to stop for it."""

    @property
    def rank(self) -> tuple[int, float, str, str]:
        """The smallest goes first among nominees that are otherwise equal: priority, then age, then name."""
        workload = self.workload
        return (-workload.priority, workload.create_time.timestamp(), workload.name, workload.queue)


def nominate(snapshot: Snapshot, workload: Workload, sharing: FairSharing | None) -> Nominee:
    """The workload with what it would take to admit it as things are. Raises KeyError if its queue is unknown."""
    queue = snapshot.tree.queues[workload.queue]
    assignment = assign_flavors(snapshot, workload, sharing)
    victims: tuple[Victim, ...] = ()
    if assignment.mode not in {Mode.NO_FIT, Mode.FREE}:
        # Victims of one resource may do for another one too, so they are looked for once more for all together.
        preemptor = Preemptor(workload, queue, assignment.amounts, assignment.contested)
        victims = find_victims(snapshot, preemptor, sharing)
    return Nominee(workload, queue, assignment, victims)
