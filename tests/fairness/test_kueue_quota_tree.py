from __future__ import annotations

from fractions import Fraction

import pytest

from services.scheduler.fairness.kueue.queue_spec import (
    BorrowWithinCohort,
    CohortSpec,
    Preemption,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
)
from services.scheduler.fairness.kueue.quota_tree import QuotaTreeError, quota_tree
from services.scheduler.fairness.kueue.usage import Usage
from tests.fairness.kueue_queues import a_queue, gpus


@pytest.mark.parametrize(
    ("queues", "cohorts", "field"),
    [
        ([a_queue("a"), a_queue("a")], [], "queues[a]"),
        ([a_queue("")], [], "queues.name"),
        ([a_queue("a", "nowhere")], [], "queues[a].cohort"),
        ([], [CohortSpec("a", "nowhere")], "cohorts[a].parent"),
        ([], [CohortSpec("a", "b"), CohortSpec("b", "a")], "cohorts[a].parent"),
        ([QueueSpec("a", weight=Fraction(-1))], [], "queues[a].weight"),
        ([QueueSpec("a", quotas={gpus(): Quota(-1)})], [], "queues[a].quotas[mi300x/gpu].nominal"),
        (
            [QueueSpec("a", quotas={gpus(): Quota(1, borrowing_limit=1)})],
            [],
            "queues[a].quotas[mi300x/gpu].borrowing_limit",
        ),
        (
            [QueueSpec("a", "team", {gpus(): Quota(1, lending_limit=2)})],
            [CohortSpec("team")],
            "queues[a].quotas[mi300x/gpu].lending_limit",
        ),
        (
            [QueueSpec("a", preemption=Preemption(borrow_within_cohort=BorrowWithinCohort.LOWER_PRIORITY))],
            [],
            "queues[a].preemption.borrow_within_cohort",
        ),
        (
            [QueueSpec("a", preemption=Preemption(reclaim_within_cohort=ReclaimWithinCohort.ANY, max_priority=1))],
            [],
            "queues[a].preemption.max_priority",
        ),
    ],
)
def test_a_tree_that_makes_no_sense_is_refused_with_the_field(
    queues: list[QueueSpec], cohorts: list[CohortSpec], field: str
) -> None:
    with pytest.raises(QuotaTreeError) as error:
        quota_tree(queues, cohorts)
    assert [fault.field for fault in error.value.faults] == [field]
    assert str(error.value).startswith(field)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(QuotaTreeError) as error:
        quota_tree([a_queue("a", "nowhere"), a_queue("b", mi300x=-1)], [])
    assert len(error.value.faults) == 2


def test_a_lending_limit_keeps_quota_at_home() -> None:
    lender = QueueSpec("lender", "team", {gpus(): Quota(6, lending_limit=2)})
    tree = quota_tree([lender, a_queue("borrower", "team", mi300x=1)], [CohortSpec("team")])
    usage, node = Usage(tree), tree.queues["borrower"]
    assert (usage.available(node, gpus()), node.potential(gpus())) == (3, 3)
    usage.add(tree.queues["lender"], {gpus(): 5})
    assert usage.available(node, gpus()) == 2
    assert usage.used(tree.cohorts["team"], gpus()) == 1


def test_quota_that_was_taken_away_leaves_less_than_nothing() -> None:
    tree = quota_tree([a_queue("a", mi300x=1)], [])
    usage = Usage(tree)
    usage.add(tree.queues["a"], {gpus(): 3})
    assert usage.available(tree.queues["a"], gpus()) == -2
    assert not usage.fits(tree.queues["a"], {gpus(): 1})


def test_shares_go_by_the_weight_and_by_the_resource_that_is_borrowed_most() -> None:
    tree = quota_tree(
        [
            a_queue("light", "team", mi300x=0, settings={"weight": Fraction(1)}),
            a_queue("heavy", "team", mi300x=0, settings={"weight": Fraction(2)}),
        ],
        [CohortSpec("team", quotas={gpus(): Quota(8)})],
    )
    usage = Usage(tree)
    for name in ("light", "heavy"):
        usage.add(tree.queues[name], {gpus(): 3})
    light, heavy = (usage.share(tree.queues[name]) for name in ("light", "heavy"))
    assert (light.rounded, heavy.rounded) == (375, 188)
    assert (light.resource, light.borrowed) == ("gpu", {gpus()})
    assert heavy.order < light.order
