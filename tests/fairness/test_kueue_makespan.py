"""A tenth of the load of Kueue's own scalability test, in virtual time: decisions must not leave quota idle."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heappop, heappush

import pytest

from services.scheduler.fairness.kueue.admission_cycle import Claim, Outcome
from services.scheduler.fairness.kueue.admission_pass import admission_pass
from services.scheduler.fairness.kueue.queue_spec import (
    CohortSpec,
    Preemption,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import QuotaTree, quota_tree
from services.scheduler.fairness.kueue.snapshot import Admitted, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing
from tests.fairness.kueue_queues import NOW, gpus

QUOTA = 20
# Units, how many of them in a queue, priority, and seconds that each runs for.
CLASSES = ((1, 35, 50, 0.2), (5, 10, 100, 0.5), (20, 5, 200, 1.0))
IDEAL_SECONDS = sum(units * count * seconds for units, count, _, seconds in CLASSES) / QUOTA
SECONDS = {units: seconds for units, _, _, seconds in CLASSES}


@dataclass
class Cluster:
    """Runs what is admitted, and stops victims at once; those start from scratch."""

    tree: QuotaTree
    waiting: dict[str, Workload]
    sharing: FairSharing | None
    now_seconds: float = 0
    running: dict[str, Admitted] = field(default_factory=dict)
    ends: list[tuple[float, str]] = field(default_factory=list)
    claims: tuple[Claim, ...] = ()

    def step(self) -> None:
        while self.decide():
            pass
        self.now_seconds = self.ends[0][0]
        while self.ends and self.ends[0][0] <= self.now_seconds:
            del self.running[heappop(self.ends)[1]]

    def decide(self) -> bool:
        """True if workloads were stopped, so that there is more to decide on."""
        now = NOW + timedelta(seconds=self.now_seconds)
        result = admission_pass(
            snapshot_of(self.tree, self.running.values()),
            self.waiting.values(),
            now,
            sharing=self.sharing,
            claims=self.claims,
        )
        self.claims = result.claims
        for one in result.decisions:
            if one.outcome in {Outcome.ADMITTED, Outcome.PREEMPTING}:
                self.waiting.pop(one.workload.name, None)
            if one.outcome is Outcome.ADMITTED:
                name = one.workload.name
                self.running[name] = Admitted(one.workload, one.amounts, now)
                heappush(self.ends, (self.now_seconds + SECONDS[one.workload.request["gpu"]], name))
        victims = [victim.workload for claim in self.claims for victim in claim.victims]
        for victim in victims:
            del self.running[victim.name]
            self.waiting[victim.name] = victim
            self.ends = sorted(end for end in self.ends if end[1] != victim.name)
        return bool(victims)


def a_cluster(sharing: FairSharing | None) -> Cluster:
    preemption = Preemption(WithinQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY)
    queues = [
        QueueSpec(f"queue-{number}", f"cohort-{number % 2}", {gpus(): Quota(QUOTA, 100)}, preemption=preemption)
        for number in range(6)
    ]
    workloads = [
        Workload(f"{queue.name}-{units}-{number}", queue.name, priority, {"gpu": units}, NOW)
        for queue in queues
        for units, count, priority, _ in CLASSES
        for number in range(count)
    ]
    tree = quota_tree(queues, [CohortSpec("cohort-0"), CohortSpec("cohort-1")])
    return Cluster(tree, {workload.name: workload for workload in workloads}, sharing)


@pytest.mark.parametrize("sharing", [FairSharing(), None])
def test_a_backlog_is_done_within_a_tenth_of_the_ideal_time(sharing: FairSharing | None) -> None:
    cluster = a_cluster(sharing)
    while cluster.waiting or cluster.running:
        cluster.step()
    assert IDEAL_SECONDS <= cluster.now_seconds + 0.001 <= 1.1 * IDEAL_SECONDS


def test_a_late_owner_takes_back_what_others_borrowed() -> None:
    cluster = a_cluster(FairSharing())
    owner = "queue-0"
    late = {name: cluster.waiting.pop(name) for name, one in list(cluster.waiting.items()) if one.queue == owner}
    cluster.decide()
    cluster.waiting |= late
    assert cluster.decide(), "nothing was stopped for it"
    while cluster.claims:
        cluster.decide()
    used = sum(one.workload.request["gpu"] for one in cluster.running.values() if one.workload.queue == owner)
    assert used == QUOTA
