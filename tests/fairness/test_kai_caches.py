"""What a cycle remembers of its state is what it would find if it looked again."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, Request, Task, TaskState
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.job_order import JobsInOrder
from services.scheduler.fairness.kai.node_room import Holding
from services.scheduler.fairness.kai.policy import Action, Policy
from services.scheduler.fairness.kai.reclaim_check import PossibleVictims, ReclaimCheck
from services.scheduler.fairness.queue_tree import EVERYTHING, WHOLE_GPU_MILLI, Queue, QueueTree, ReclaimStrategy
from tests.fairness.kai_clusters import clusters
from tests.tiers import examples

policies = st.builds(
    Policy,
    st.just((Action.RECLAIM,)),
    strategy=st.sampled_from(ReclaimStrategy),
    never_below_quota=st.booleans(),
    may_move=st.booleans(),
)
changes = st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=8)


def change(state: CycleState, number: int, leave: Collection[str] = ()) -> None:
    """Stops a task that runs, or starts one that waits, whether there is room or not; none of the jobs to leave."""
    tasks = [task for name, task in state.tasks.items() if state.job_of[name].name not in leave]
    if not tasks:
        return
    task = tasks[number % len(tasks)]
    if state.state_of(task) is TaskState.RUNNING:
        state.evict(task)
    elif state.state_of(task) is TaskState.PENDING:
        state.start(task, Holding(next(iter(state.rooms)), TaskState.PIPELINED, ("0",) * task.request.is_shared))


@given(clusters(), policies, changes)
def test_victims_are_those_that_a_fresh_look_finds(
    cluster: Cluster, policy: Policy, several: list[tuple[int, bool]]
) -> None:
    state = CycleState(cluster, policy.k_ppm)
    possible = PossibleVictims(state)
    for number, is_taken_back in [(0, True), *several]:
        checkpoint = state.checkpoint()
        change(state, number)
        if is_taken_back:
            state.rollback(checkpoint)
        for job in cluster.jobs:
            check = ReclaimCheck(state, job, policy)
            found = [victim.name for victim in possible.of(check)]
            assert sorted(found) == sorted(victim.name for victim in PossibleVictims(state).of(check))
            assert not any(state.jobs[name].queue == job.queue for name in found)


def test_a_queue_has_victims_for_its_sibling_though_its_department_has_none_for_others() -> None:
    gpu = Request(gpus=1)
    tree = QueueTree(
        Queue(name, parent, position, quota=EVERYTHING._replace(gpu_milli=quota * WHOLE_GPU_MILLI))
        for position, (name, parent, quota) in enumerate(
            [("east", None, 0), ("west", None, 2), ("a", "east", 1), ("c", "west", 1), ("d", "west", 1)]
        )
    )
    holders = [Job(f"c{number}", "c", (Task(f"c{number}", gpu, TaskState.RUNNING, "n"),)) for number in range(2)]
    waiting = [Job(name, name, (Task(name, gpu),)) for name in ("a", "d")]
    policy = Policy((Action.RECLAIM,), strategy=ReclaimStrategy.CONSERVATIVE, may_move=False)
    state = CycleState(Cluster((Node("n", 2),), (*holders, *waiting), tree), policy.k_ppm)
    possible = PossibleVictims(state)
    found = [[victim.name for victim in possible.of(ReclaimCheck(state, job, policy))] for job in waiting]
    assert found == [[], ["c0", "c1"]]


@given(clusters(), changes)
def test_shares_and_holders_are_those_of_the_state_as_it_is(cluster: Cluster, several: list[tuple[int, bool]]) -> None:
    state = CycleState(cluster, 0)
    for number, is_taken_back in several:
        checkpoint, version = state.checkpoint(), state.version
        before = state.shares()
        change(state, number)
        if is_taken_back:
            state.rollback(checkpoint)
            assert state.version == version
            assert state.shares() == before
        assert {name: share.allocated for name, share in state.shares().items()} == {
            name: state.allocated(name) for name in state.tree.queues
        }
        holders = {job.name for jobs in state.holders().values() for job in jobs}
        assert holders == {job.name for job in cluster.jobs if state.active_tasks(job)}


@settings(max_examples=examples(500))
@given(clusters(), changes)
def test_queues_that_are_ranked_again_come_in_the_order_of_a_fresh_look(
    cluster: Cluster, several: list[tuple[int, bool]]
) -> None:
    state = CycleState(cluster, 0)
    order = JobsInOrder(state)
    for job in cluster.jobs:
        order.push_ready(job)
    for number, _ in several:
        fresh = JobsInOrder(state)
        for candidate in order.rest():
            fresh.push(candidate.job, candidate.tasks, comes_first=candidate.order[1] == 0)
        first, expected = order.pop(), fresh.pop()
        assert (first and first.job) == (expected and expected.job)
        checkpoint = state.checkpoint()
        change(state, number, [candidate.job.name for candidate in order.rest()])
        order.rank_again(state.queues_changed_since(checkpoint))
