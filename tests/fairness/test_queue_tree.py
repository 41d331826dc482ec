from __future__ import annotations

import pytest

from services.scheduler.fairness.queue_tree import EVERYTHING, Amounts, InvalidQueueTreeError, Queue, checked_tree

ONE_GPU, TWO_GPUS = (EVERYTHING._replace(gpu_milli=gpus * 1000) for gpus in (1, 2))


def test_queues_are_found_below_and_above_in_order_of_creation() -> None:
    tree = checked_tree(
        [Queue("late", "top", create_order=2), Queue("early", "top", create_order=1), Queue("top", create_order=3)]
    )
    assert [queue.name for queue in tree.children("top")] == ["early", "late"]
    assert [queue.name for queue in tree.children(None)] == ["top"]
    assert [queue.name for queue in tree.upwards("late")] == ["late", "top"]


@pytest.mark.parametrize(
    ("queues", "said"),
    [
        ([Queue("")], "queues[0].name: '' is empty"),
        ([Queue("a"), Queue("a")], "queues[1].name: 'a' is the name of several queues"),
        ([Queue("a", "b")], "queues[a].parent: 'b' is no queue of this tree"),
        ([Queue("a", "b"), Queue("b", "a")], "closes the cycle a -> b -> a"),
        ([Queue("a", weight=Amounts(-1))], "queues[a].weight.gpu_milli: -1 is negative"),
        ([Queue("a", preempt_min_runtime_seconds=-1)], "queues[a].preempt_min_runtime_seconds: -1 is negative"),
        ([Queue("a", quota=TWO_GPUS, limit=ONE_GPU)], "queues[a].quota.gpu_milli: 2000 is above its own limit, 1000"),
        (
            [Queue("top", quota=ONE_GPU, limit=ONE_GPU), Queue("a", "top", quota=TWO_GPUS)],
            "queues[a].quota.gpu_milli: 2000 is above the limit of its ancestor 'top', 1000",
        ),
    ],
)
def test_a_tree_with_a_fault_is_refused_with_the_field_and_the_fix(queues: list[Queue], said: str) -> None:
    with pytest.raises(InvalidQueueTreeError) as refused:
        checked_tree(queues)
    assert said in str(refused.value)
    assert all(violation.fix for violation in refused.value.violations)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidQueueTreeError) as refused:
        checked_tree([Queue(""), Queue("a", "nowhere", weight=Amounts(-1))])
    assert len(refused.value.violations) == 3
