"""What holds for every tree of queues, whatever runs and waits in it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from services.scheduler.fairness.kueue.admission_cycle import Decision, Outcome, admission_cycle
from services.scheduler.fairness.kueue.admission_pass import PassResult, admission_pass
from services.scheduler.fairness.kueue.flavor_assignment import Mode, assign_flavors
from services.scheduler.fairness.kueue.preemption import Preemptor, Victim
from services.scheduler.fairness.kueue.queue_spec import Quota
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing, find_victims
from services.scheduler.fairness.kueue.waiting import Waiting
from tests.fairness.kueue_worlds import NOW, SHARINGS, World, worlds


def a_pass(world: World, sharing: FairSharing | None) -> PassResult:
    return admission_pass(world.snapshot, world.waiting, NOW, sharing=sharing)


def a_cycle(world: World, sharing: FairSharing | None) -> tuple[Decision, ...]:
    by_queue: dict[str, list[Workload]] = {}
    for workload in world.waiting:
        by_queue.setdefault(workload.queue, []).append(workload)
    return admission_cycle(world.snapshot, [Waiting(those).head({}) for those in by_queue.values()], sharing)


def started(decisions: tuple[Decision, ...]) -> list[Admitted]:
    return [Admitted(one.workload, one.amounts, NOW) for one in decisions if one.outcome is Outcome.ADMITTED]


def after(world: World, decisions: tuple[Decision, ...]) -> Snapshot:
    """The state when all that was decided has happened."""
    stopped = {victim.admitted.workload.name for one in decisions for victim in one.victims}
    preempting = [Admitted(one.workload, one.amounts, NOW) for one in decisions if one.outcome is Outcome.PREEMPTING]
    left = [one for one in world.running if one.workload.name not in stopped]
    return snapshot_of(world.tree, [*left, *started(decisions), *preempting])


def assert_limits(world: World, snapshot: Snapshot) -> None:
    """Checked from the specifications alone, and the usage of the queues."""
    queues = world.tree.queues.values()
    for fr in world.flavor_resources():
        for node in world.nodes():
            inside = [node, *(one for one in world.nodes() if node in one.ancestors)]
            outside = [one for one in world.nodes() if one.root is node.root and one not in inside]
            used_inside, used_outside = (
                sum(snapshot.usage.used(one, fr) for one in those if one in queues) for those in (inside, outside)
            )
            owned_inside, owned_outside = (
                sum(one.spec.quotas[fr].nominal for one in those if fr in one.spec.quotas)
                for those in (inside, outside)
            )
            assert used_inside + used_outside <= owned_inside + owned_outside
            quota = node.spec.quotas.get(fr, Quota(0))
            if quota.borrowing_limit is not None:
                assert used_inside <= owned_inside + quota.borrowing_limit
            if quota.lending_limit is not None:
                assert used_outside <= owned_outside + quota.lending_limit


def preemptions(world: World, sharing: FairSharing | None) -> Iterator[tuple[Preemptor, tuple[Victim, ...]]]:
    """The victims of each waiting workload, as if it were the only one."""
    for workload in world.waiting:
        assignment = assign_flavors(world.snapshot, workload, sharing)
        if assignment.mode not in {Mode.NO_FIT, Mode.FREE}:
            queue = world.tree.queues[workload.queue]
            preemptor = Preemptor(workload, queue, assignment.amounts, assignment.contested)
            yield preemptor, find_victims(world.snapshot, preemptor, sharing)


@given(worlds(), SHARINGS)
def test_usage_keeps_all_quotas_and_limits(world: World, sharing: FairSharing | None) -> None:
    assert_limits(world, world.snapshot)
    decisions = a_pass(world, sharing).decisions
    assert_limits(world, snapshot_of(world.tree, [*world.running, *started(decisions)]))
    assert_limits(world, after(world, decisions))


@given(worlds(), SHARINGS)
def test_a_cycle_keeps_all_quotas_and_limits(world: World, sharing: FairSharing | None) -> None:
    decisions = a_cycle(world, sharing)
    assert_limits(world, snapshot_of(world.tree, [*world.running, *started(decisions)]))
    assert_limits(world, after(world, decisions))


@given(worlds(), SHARINGS)
def test_nobody_waits_for_what_is_free(world: World, sharing: FairSharing | None) -> None:
    result = a_pass(world, sharing)
    if result.claims:
        return
    end = snapshot_of(world.tree, [*world.running, *started(result.decisions)])
    for decision in result.decisions:
        if decision.outcome is not Outcome.ADMITTED:
            assert assign_flavors(end, decision.workload, sharing).mode is not Mode.FREE


@given(worlds(max_flavors=1), SHARINGS)
def test_with_one_flavor_nobody_waits_for_what_the_cohort_has_left(world: World, sharing: FairSharing | None) -> None:
    result = a_pass(world, sharing)
    if result.claims:
        return
    end = snapshot_of(world.tree, [*world.running, *started(result.decisions)])
    for decision in result.decisions:
        if decision.outcome is not Outcome.ADMITTED:
            queue = world.tree.queues[decision.workload.queue]
            asked = {fr: decision.workload.request[fr.resource] for fr in queue.queue.quotas}
            assert not end.usage.fits(queue, asked)


@given(worlds(), SHARINGS)
def test_every_waiting_workload_is_decided_on_once_and_told_why_and_each_victim_runs_and_is_one_preemptors(
    world: World, sharing: FairSharing | None
) -> None:
    decisions = a_pass(world, sharing).decisions
    assert sorted(one.workload.name for one in decisions) == sorted(one.name for one in world.waiting)
    for decision in decisions:
        assert decision.reason.endswith(".")
        assert bool(decision.victims) == (decision.outcome is Outcome.PREEMPTING)
    victims = [victim.admitted.workload.name for one in decisions for victim in one.victims]
    assert len(victims) == len(set(victims))
    assert set(victims) <= {one.workload.name for one in world.running}


@given(worlds(), SHARINGS)
def test_a_preemptor_fits_without_its_victims_none_of_which_could_have_been_spared(
    world: World, sharing: FairSharing | None
) -> None:
    snapshot = world.snapshot
    for preemptor, victims in preemptions(world, sharing):
        assert not victims or not snapshot.usage.fits(preemptor.queue, preemptor.amounts)
        for victim in victims:
            assert not preemptor.contested.isdisjoint(victim.admitted.usage)
            queue = world.tree.queues[victim.admitted.workload.queue]
            if queue is not preemptor.queue:
                assert queue.root is preemptor.queue.root
                assert any(snapshot.usage.exceeds_quota(queue, fr) for fr in preemptor.contested)
        everybody = [victim.admitted for victim in victims]
        for spared in [None, *everybody] if victims else []:
            with snapshot.without([one for one in everybody if one is not spared]):
                if spared is None:
                    assert snapshot.usage.fits(preemptor.queue, preemptor.amounts)
                else:
                    # Without fair sharing, some may only be taken by a queue that does not borrow afterwards.
                    assert not snapshot.usage.fits(preemptor.queue, preemptor.amounts, may_borrow=sharing is not None)


@given(worlds(), SHARINGS, st.randoms(use_true_random=False))
def test_the_order_of_what_runs_and_waits_makes_no_difference(
    world: World, sharing: FairSharing | None, random: Random
) -> None:
    running, waiting = list(world.running), list(world.waiting)
    random.shuffle(running)
    random.shuffle(waiting)
    shuffled = World(world.tree, tuple(running), tuple(waiting))
    assert a_pass(shuffled, sharing) == a_pass(world, sharing)


@given(worlds(), SHARINGS)
def test_a_pass_leaves_the_state_as_it_was(world: World, sharing: FairSharing | None) -> None:
    snapshot = world.snapshot
    admission_pass(snapshot, world.waiting, NOW, sharing=sharing)
    list(preemptions(world, sharing))
    fresh = world.snapshot
    assert (snapshot.running, snapshot.evicting) == (fresh.running, fresh.evicting)
    for node in world.nodes():
        for fr in world.flavor_resources():
            assert snapshot.usage.used(node, fr) == fresh.usage.used(node, fr)


@given(worlds(), SHARINGS)
def test_a_preemptor_starts_as_soon_as_its_victims_have_stopped(world: World, sharing: FairSharing | None) -> None:
    first = a_pass(world, sharing)
    stopped = {victim.workload.name for claim in first.claims for victim in claim.victims}
    left = [one for one in world.running if one.workload.name not in stopped]
    snapshot = snapshot_of(world.tree, [*left, *started(first.decisions)])
    waiting = [one.workload for one in first.decisions if one.outcome in {Outcome.OVERTAKEN, Outcome.WAITING}]
    second = admission_pass(snapshot, waiting, NOW, sharing=sharing, claims=first.claims)
    redeemed = {one.workload.name for one in second.decisions if one.outcome is Outcome.ADMITTED}
    assert {claim.workload.name for claim in first.claims} <= redeemed
    assert_limits(world, snapshot_of(world.tree, [*left, *started(first.decisions), *started(second.decisions)]))


def a_pass_while_victims_stop(world: World, first: PassResult, sharing: FairSharing | None) -> PassResult:
    """The next pass, over those that got nothing in the first one, whose victims still hold quota."""
    snapshot = world.snapshot
    for one in started(first.decisions):
        snapshot.admit(one)
    for claim in first.claims:
        for victim in claim.victims:
            snapshot.evict(victim)
    waiting = [one.workload for one in first.decisions if one.outcome in {Outcome.OVERTAKEN, Outcome.WAITING}]
    return admission_pass(snapshot, waiting, NOW, sharing=sharing, claims=first.claims)


@given(worlds(), SHARINGS)
def test_nobody_takes_what_a_preemptor_waits_for(world: World, sharing: FairSharing | None) -> None:
    first = a_pass(world, sharing)
    # Some may start: they were overtaken in the first pass, and what they need was left all the same.
    second = a_pass_while_victims_stop(world, first, sharing)
    assert second.claims[: len(first.claims)] == first.claims
    stopped = {victim.workload.name for claim in second.claims for victim in claim.victims}
    left = [one for one in world.running if one.workload.name not in stopped]
    claimed = [Admitted(claim.workload, claim.amounts, NOW) for claim in second.claims]
    assert_limits(
        world, snapshot_of(world.tree, [*left, *started(first.decisions), *started(second.decisions), *claimed])
    )


@given(worlds(), st.data())
def test_borrowing_queues_are_known_after_every_change(world: World, data: st.DataObject) -> None:
    snapshot, contested = world.snapshot, world.flavor_resources()
    for one in data.draw(st.permutations(world.running)):
        snapshot.dismiss(one)
        for root in {queue.root for queue in world.tree.queues.values()}:
            found = {queue.name for queue in snapshot.usage.borrowing_queues(root, contested)}
            assert found == {
                name
                for name, queue in world.tree.queues.items()
                if queue.root is root and any(snapshot.usage.exceeds_quota(queue, fr) for fr in contested)
            }


@given(worlds())
def test_a_share_is_zero_without_borrowing(world: World) -> None:
    usage = world.snapshot.usage
    for node in world.nodes():
        share = usage.share(node)
        exceeds = any(usage.exceeds_quota(node, fr) for fr in world.flavor_resources())
        assert share.is_borrowing == (exceeds and node.parent is not None)
        if not share.is_borrowing:
            assert share.rounded == 0
