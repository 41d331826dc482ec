from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from services.scheduler.fairness.kueue.preemption import Preemptor
from services.scheduler.fairness.kueue.queue_spec import (
    CohortSpec,
    Preemption,
    QueueSpec,
    ReclaimWithinCohort,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import quota_tree
from services.scheduler.fairness.kueue.snapshot import Admitted, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing, find_victims
from tests.fairness.kueue_queues import NOW, a_queue, a_workload, gpus, running

LOWER = {"preemption": Preemption(WithinQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY)}


def victims(
    queues: Sequence[QueueSpec],
    there: Sequence[Admitted],
    workload: Workload,
    *,
    sharing: FairSharing | None = None,
    local_queue_usage: Mapping[str, float] | None = None,
) -> list[str]:
    snapshot = snapshot_of(quota_tree(queues, [CohortSpec("team")]), there, local_queue_usage)
    amounts = {gpus(): workload.request["gpu"]}
    preemptor = Preemptor(workload, snapshot.tree.queues[workload.queue], amounts, frozenset(amounts))
    return sorted(one.admitted.workload.name for one in find_victims(snapshot, preemptor, sharing))


def test_a_queue_that_may_not_borrow_for_a_preemption_rather_takes_more_of_its_own() -> None:
    queues = [
        a_queue("a", "team", mi300x=4, settings=LOWER),
        a_queue("b", "team", mi300x=0),
        a_queue("c", "team", mi300x=2),
    ]
    there = [running(a_workload(name, name[0], 1)) for name in ("a1", "a2", "a3", "b1")]
    high = a_workload("high", "a", 3, priority=1)
    assert victims(queues, there, high) == ["a1", "a2"]
    # With nobody to take back from, it borrows: fewer have to stop.
    assert victims(queues, there[:3], replace(high, request={"gpu": 4})) == ["a1"]


def test_the_local_queue_that_used_most_gives_way_first() -> None:
    queues = [a_queue("a", mi300x=2, settings=LOWER)]
    there = [running(a_workload(f"of-{who}", "a", 1, local_queue=who)) for who in ("ann", "bob")]
    high = a_workload("high", "a", 1, priority=1)
    assert victims(queues, there, high) == ["of-ann"]
    assert victims(queues, there, high, local_queue_usage={"ann": 1, "bob": 2}) == ["of-bob"]


def test_what_is_on_its_way_out_goes_before_all_others() -> None:
    queues = [a_queue("a", mi300x=3, settings=LOWER)]
    there = [
        running(a_workload("lowest", "a", 1)),
        Admitted(a_workload("leaving", "a", 1, priority=2), {gpus(): 1}, NOW, is_evicting=True),
    ]
    assert victims(queues, there, a_workload("high", "a", 2, priority=3)) == ["leaving"]


def test_queues_of_which_some_workload_is_on_its_way_out_give_their_own() -> None:
    queues = [
        a_queue("a", "team", mi300x=3, settings=LOWER),
        a_queue("b", "team", mi300x=0),
        a_queue("c", "team", mi300x=0),
    ]
    there = [
        running(a_workload("b-leaving", "b", 1), is_evicting=True),
        running(a_workload("b-goes-on", "b", 1)),
        running(a_workload("c-goes-on", "c", 1)),
    ]
    wanted = ["b-goes-on", "b-leaving", "c-goes-on"]
    assert victims(queues, there, a_workload("owner", "a", 3), sharing=FairSharing()) == wanted


def test_a_newer_workload_of_the_same_priority_gives_way_if_the_queue_says_so() -> None:
    policy = {"preemption": Preemption(WithinQueue.LOWER_OR_NEWER_EQUAL_PRIORITY)}
    there = [running(a_workload("older", "a", 1, age=20)), running(a_workload("newer", "a", 1, age=5))]
    waiting = a_workload("waiting", "a", 1, age=10)
    assert victims([a_queue("a", mi300x=2, settings=policy)], there, waiting) == ["newer"]
    assert victims([a_queue("a", mi300x=2, settings=LOWER)], there, waiting) == []


def test_a_preemption_by_shares_does_not_turn_the_tables() -> None:
    queues = [
        a_queue("a", "team", mi300x=3, settings=LOWER),
        a_queue("b", "team", mi300x=3),
        a_queue("c", "team", mi300x=3),
    ]
    there = [running(a_workload(f"b{number}", "b", 1)) for number in range(5)]
    there += [running(a_workload("a1", "a", 3)), running(a_workload("c1", "c", 1))]
    # With one more, `a` and `b` borrow 1 each; with two more, `a` would borrow what `b` has now.
    assert victims(queues, there, a_workload("one", "a", 1), sharing=FairSharing()) == ["b0"]
    assert victims(queues, there, a_workload("two", "a", 2), sharing=FairSharing()) == []
    assert victims(queues, there, a_workload("two", "a", 2)) == []
