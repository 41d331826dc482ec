from __future__ import annotations

import pytest

from services.scheduler.fairness.kueue.flavor_assignment import Assignment, Mode, assign_flavors
from services.scheduler.fairness.kueue.queue_spec import (
    CohortSpec,
    FlavorFungibility,
    FlavorPreference,
    FlavorResource,
    Fungibility,
    Preemption,
    QueueSpec,
    Quota,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import quota_tree
from services.scheduler.fairness.kueue.snapshot import Workload, snapshot_of
from tests.fairness.kueue_queues import NOW, a_queue, a_workload, gpus, running

STOP, NEXT = Fungibility.MAY_STOP_SEARCH, Fungibility.TRY_NEXT_FLAVOR
BORROW, PREEMPT = FlavorPreference.BORROWING_OVER_PREEMPTION, FlavorPreference.PREEMPTION_OVER_BORROWING


def chosen(fungibility: FlavorFungibility, *, first_is_borrowed: bool = False, last_is_free: bool = False) -> str:
    """Which flavor a queue takes: `old` needs a preemption or is borrowed, `mid` is borrowed, `new` may be free."""
    settings = {
        "preemption": Preemption(within_queue=WithinQueue.LOWER_PRIORITY),
        "fungibility": fungibility,
    }
    queues = [
        a_queue("a", "team", settings=settings, old=0 if first_is_borrowed else 2, mid=0, new=2 if last_is_free else 0),
        a_queue("lender", "team", old=2 if first_is_borrowed else 0, mid=2),
    ]
    there = [] if first_is_borrowed else [running(a_workload("low", "a", 2), "old")]
    snapshot = snapshot_of(quota_tree(queues, [CohortSpec("team")]), there)
    (fr,) = assign_flavors(snapshot, a_workload("high", "a", 2, priority=1), None).amounts
    return fr.flavor


@pytest.mark.parametrize(
    ("when_can_borrow", "when_can_preempt", "preference", "flavor"),
    [
        (STOP, NEXT, BORROW, "mid"),
        (STOP, STOP, BORROW, "old"),
        (NEXT, NEXT, BORROW, "mid"),
        (NEXT, NEXT, PREEMPT, "old"),
    ],
)
def test_a_queue_says_whether_it_would_rather_borrow_or_preempt(
    when_can_borrow: Fungibility, when_can_preempt: Fungibility, preference: FlavorPreference, flavor: str
) -> None:
    assert chosen(FlavorFungibility(when_can_borrow, when_can_preempt, preference)) == flavor


def test_a_queue_says_whether_it_looks_further_before_it_borrows() -> None:
    assert chosen(FlavorFungibility(STOP), first_is_borrowed=True, last_is_free=True) == "old"
    assert chosen(FlavorFungibility(NEXT), first_is_borrowed=True, last_is_free=True) == "new"


def assigned(queue: QueueSpec, request: dict[str, int]) -> Assignment:
    snapshot = snapshot_of(quota_tree([queue], []), [])
    return assign_flavors(snapshot, Workload("w", queue.name, 0, request, NOW), None)


def test_resources_of_one_group_get_one_flavor() -> None:
    quotas = {
        FlavorResource("small", "gpu"): Quota(8),
        FlavorResource("small", "memory"): Quota(1),
        FlavorResource("large", "gpu"): Quota(8),
        FlavorResource("large", "memory"): Quota(9),
        FlavorResource("any", "license"): Quota(1),
    }
    assignment = assigned(QueueSpec("a", quotas=quotas), {"gpu": 1, "memory": 2, "license": 1})
    assert {(fr.flavor, fr.resource) for fr in assignment.amounts} == {
        ("large", "gpu"),
        ("large", "memory"),
        ("any", "license"),
    }
    assert assignment.mode is Mode.FREE


@pytest.mark.parametrize(
    ("request_", "obstacle"),
    [
        ({"gpu": 9}, "mi300x has at most 8 gpu for queue a, not 9"),
        ({"tpu": 1}, "queue a has no quota of tpu"),
    ],
)
def test_what_the_queue_can_never_have_is_said(request_: dict[str, int], obstacle: str) -> None:
    assignment = assigned(a_queue("a", mi300x=8), request_)
    assert (assignment.mode, assignment.amounts, assignment.obstacles) == (Mode.NO_FIT, {}, (obstacle,))


def test_what_runs_and_may_not_be_preempted_is_waited_for() -> None:
    snapshot = snapshot_of(quota_tree([a_queue("a", mi300x=8)], []), [running(a_workload("there", "a", 6))])
    assignment = assign_flavors(snapshot, a_workload("w", "a", 4, priority=1), None)
    assert (assignment.mode, assignment.contested) == (Mode.NO_VICTIMS, {gpus()})
    assert assignment.obstacles == ("mi300x lacks 2 gpu",)
