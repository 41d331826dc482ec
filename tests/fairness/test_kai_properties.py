from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from services.scheduler.fairness.kai.cluster import ALLOCATED, Cluster, Job, TaskState
from services.scheduler.fairness.kai.cycle import run_cycle
from services.scheduler.fairness.kai.decision import CycleResult, DecisionKind
from services.scheduler.fairness.kai.fair_share import Claim, Division, divide
from services.scheduler.fairness.kai.policy import FULL_CYCLE, Action, Policy
from services.scheduler.fairness.queue_tree import UNLIMITED
from tests.fairness.kai_cluster import after
from tests.fairness.kai_clusters import clusters, rooms_after

GRANULE = 1000
amounts = st.one_of(st.integers(0, 12).map(lambda gpus: gpus * GRANULE), st.integers(0, 12_000))


@st.composite
def claims(draw: st.DrawFn) -> list[Claim]:
    return [
        Claim(
            f"queue{position}",
            draw(st.one_of(amounts, st.just(UNLIMITED))),
            draw(st.integers(0, 5)),
            draw(st.one_of(st.just(UNLIMITED), amounts)),
            draw(amounts),
            draw(st.integers(0, 2)),
            draw(st.integers(0, 1)),
        )
        for position in range(draw(st.integers(1, 6)))
    ]


def guaranteed(total: int, claim: Claim) -> int:
    return min(total if claim.quota >= UNLIMITED else claim.quota, claim.requestable)


@given(amounts, claims(), st.integers(0, 2_000_000))
def test_every_queue_gets_at_least_its_quota_and_at_most_what_it_wants_and_may(
    total: int, all_claims: list[Claim], k_ppm: int
) -> None:
    division = divide(total, all_claims, GRANULE, k_ppm)
    for claim in all_claims:
        assert guaranteed(total, claim) <= division.shares[claim.name] <= min(claim.request, claim.limit)


@given(amounts, claims(), st.integers(0, 2_000_000))
def test_shares_and_what_is_left_are_the_total_if_the_quotas_fit(
    total: int, all_claims: list[Claim], k_ppm: int
) -> None:
    assume(sum(guaranteed(total, claim) for claim in all_claims) <= total)
    division = divide(total, all_claims, GRANULE, k_ppm)
    assert sum(division.shares.values()) + division.remaining == total


@given(amounts, claims())
def test_nothing_is_left_while_a_queue_with_a_weight_wants_more(total: int, all_claims: list[Claim]) -> None:
    division = divide(total, all_claims, GRANULE)
    hungry = [claim for claim in all_claims if claim.weight and division.shares[claim.name] < claim.requestable]
    assert not (division.remaining and hungry)


@given(amounts, claims(), st.randoms(use_true_random=False))
def test_the_order_in_which_queues_are_listed_does_not_count(
    total: int, all_claims: list[Claim], random: object
) -> None:
    shuffled = list(all_claims)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert divide(total, shuffled, GRANULE) == divide(total, all_claims, GRANULE)


@given(st.integers(0, 20), st.integers(0, 1_000_000), st.integers(0, 1_000_000))
def test_a_queue_that_used_more_gets_no_more(gpus: int, usage_ppm: int, more_ppm: int) -> None:
    wants = 20 * GRANULE

    def share(usage: int) -> Division:
        others = [Claim("one", 0, 1, UNLIMITED, wants, usage_ppm=usage), Claim("two", 0, 1, UNLIMITED, wants)]
        return divide(gpus * GRANULE, others, GRANULE, 1_000_000)

    less, more = sorted([usage_ppm, more_ppm])
    assert share(more).shares["one"] <= share(less).shares["one"]


def policies(actions: Sequence[Action] = FULL_CYCLE) -> st.SearchStrategy[Policy]:
    return st.builds(Policy, st.just(tuple(actions)), spread=st.booleans())


def jobs_of(cluster: Cluster) -> dict[str, Job]:
    return {task.name: job for job in cluster.jobs for task in job.tasks}


def active(cluster: Cluster, result: CycleResult, job: Job) -> int:
    return sum(result.states[task.name] in ALLOCATED for task in job.tasks)


def running(job: Job) -> int:
    return sum(task.state is TaskState.RUNNING for task in job.tasks)


@given(clusters(), policies())
def test_nodes_hold_what_they_have_now_and_when_stopping_tasks_are_gone(cluster: Cluster, policy: Policy) -> None:
    for room in rooms_after(cluster, run_cycle(cluster, policy)):
        assert not room.is_overcommitted()
        assert room.idle.gpus >= 0
        assert room.idle.cpu_milli >= 0


@given(clusters(), policies())
def test_a_cluster_comes_to_rest_if_promises_are_kept(cluster: Cluster, policy: Policy) -> None:
    for _ in range(12):
        result = run_cycle(cluster, policy)
        cluster = after(cluster, result, keep_promises=True)
    assert result.decisions == ()


@given(clusters(), policies())
def test_no_queue_goes_above_its_limit(cluster: Cluster, policy: Policy) -> None:
    before = run_cycle(cluster, Policy(actions=())).shares
    for name, share in run_cycle(cluster, policy).shares.items():
        for has, had, limit in zip(share.allocated, before[name].allocated, share.limit, strict=True):
            assert has <= max(had, limit)


@given(clusters(), policies())
def test_jobs_that_cannot_be_preempted_stay_and_start_within_quotas(cluster: Cluster, policy: Policy) -> None:
    before = run_cycle(cluster, Policy(actions=())).shares
    result = run_cycle(cluster, policy)
    jobs = jobs_of(cluster)
    for decision in result.decisions:
        assert jobs[decision.task].preemptible or decision.kind in (DecisionKind.START, DecisionKind.PROMISE)
    for name, share in result.shares.items():
        had = before[name].allocated_non_preemptible
        for has, was, quota in zip(share.allocated_non_preemptible, had, share.quota, strict=True):
            assert has <= max(was, quota)


@given(clusters(), policies())
def test_gangs_have_all_tasks_that_they_need_or_none(cluster: Cluster, policy: Policy) -> None:
    result = run_cycle(cluster, policy)
    for job in cluster.jobs:
        assert active(cluster, result, job) == 0 or active(cluster, result, job) >= job.min_available


@given(clusters(), policies())
def test_the_same_cluster_gives_the_same_decisions(cluster: Cluster, policy: Policy) -> None:
    backwards = replace(cluster, jobs=cluster.jobs[::-1], nodes=cluster.nodes[::-1])
    result = run_cycle(cluster, policy)
    assert run_cycle(cluster, policy) == result
    assert set(run_cycle(backwards, policy).decisions) == set(result.decisions)


@given(clusters(), policies([Action.ALLOCATE]))
def test_what_could_start_has_started(cluster: Cluster, policy: Policy) -> None:
    result = run_cycle(cluster, policy)
    assert run_cycle(after(cluster, result), policy).decisions == ()


@given(clusters(), policies([Action.RECLAIM]))
def test_a_reclaim_leaves_every_queue_its_quota(cluster: Cluster, policy: Policy) -> None:
    before = run_cycle(cluster, Policy(actions=())).shares
    result = run_cycle(cluster, policy)
    gains = {
        jobs_of(cluster)[decision.task].queue for decision in result.decisions if decision.kind is DecisionKind.PROMISE
    }
    both = {queue.name for name in gains for queue in cluster.tree.upwards(name)}
    for name, share in result.shares.items():
        if name in both and cluster.tree.children(name):
            continue  # A department whose own queue reclaims gives and gets.
        for has, had, quota in zip(share.allocated, before[name].allocated, share.quota, strict=True):
            # An unlimited quota is no number that a queue could fall below: reclaim_rule.py leaves it out too.
            assert quota >= UNLIMITED or has >= min(had, quota)


@given(clusters(), policies([Action.CONSOLIDATE]))
def test_consolidation_stops_nothing_for_good(cluster: Cluster, policy: Policy) -> None:
    result = run_cycle(cluster, policy)
    assert all(decision.kind is not DecisionKind.STOP for decision in result.decisions)
    assert {job.name for job in cluster.jobs if running(job) and not active(cluster, result, job)} == set()


@given(clusters(), policies([Action.PREEMPT]))
def test_tasks_give_way_to_higher_priorities_of_their_queue_only(cluster: Cluster, policy: Policy) -> None:
    result = run_cycle(cluster, policy)
    jobs = jobs_of(cluster)
    gains = [jobs[decision.task] for decision in result.decisions if decision.kind is DecisionKind.PROMISE]
    for decision in result.decisions:
        if decision.kind is DecisionKind.STOP:
            victim = jobs[decision.task]
            assert any(job.queue == victim.queue and job.priority > victim.priority for job in gains)


@given(clusters(), policies())
def test_every_decision_and_every_wait_has_a_reason(cluster: Cluster, policy: Policy) -> None:
    result = run_cycle(cluster, policy)
    assert all(decision.reason for decision in result.decisions)
    waiting = {
        job.name for job in cluster.jobs if any(result.states[task.name] is TaskState.PENDING for task in job.tasks)
    }
    assert set(result.waiting) <= waiting
