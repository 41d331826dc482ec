from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from services.scheduler.fairness.kueue.admission_cycle import Claim, Decision, Outcome, admission_cycle
from services.scheduler.fairness.kueue.admission_pass import admission_pass
from services.scheduler.fairness.kueue.local_queues import AdmissionFairSharing, LocalQueue, UsageDecay
from services.scheduler.fairness.kueue.queue_spec import CohortSpec, Preemption, ReclaimWithinCohort, WithinQueue
from services.scheduler.fairness.kueue.quota_tree import quota_tree
from services.scheduler.fairness.kueue.snapshot import snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing
from tests.fairness.kueue_queues import NOW, a_queue, a_workload, gpus, running

RECLAIMS = {"preemption": Preemption(WithinQueue.LOWER_PRIORITY, ReclaimWithinCohort.ANY)}
OWNER_AND_BORROWER = quota_tree(
    [a_queue("owner", "team", mi300x=4, settings=RECLAIMS), a_queue("borrower", "team", mi300x=0)], [CohortSpec("team")]
)


def outcomes(decisions: Iterable[Decision]) -> dict[str, Outcome]:
    return {one.workload.name: one.outcome for one in decisions}


def test_the_smaller_share_goes_first_and_the_reason_says_from_where() -> None:
    tree = quota_tree(
        [a_queue("bank", "team", mi300x=4), a_queue("a", "team", mi300x=0), a_queue("b", "team", mi300x=0)],
        [CohortSpec("team")],
    )
    snapshot = snapshot_of(tree, [running(a_workload("there", "a", 2))])
    heads = [a_workload("of-a", "a", 2, priority=9), a_workload("of-b", "b", 2)]
    first, second = admission_cycle(snapshot, heads, FairSharing())
    assert (first.workload.name, first.outcome) == ("of-b", Outcome.ADMITTED)
    assert first.reason == "Queue b borrows it in cohort team from the quota of mi300x."
    assert (second.workload.name, second.outcome) == ("of-a", Outcome.OVERTAKEN)
    # By priority alone, it is the other way round.
    assert outcomes(admission_cycle(snapshot, heads, None)) == {"of-a": Outcome.ADMITTED, "of-b": Outcome.OVERTAKEN}


def test_who_stays_within_quota_goes_before_who_borrows_whatever_the_shares() -> None:
    tree = quota_tree(
        [a_queue("a", "team", premium=2, cheap=0), a_queue("b", "team", premium=0, cheap=8)], [CohortSpec("team")]
    )
    # Of flavors together, `a` has borrowed far more.
    snapshot = snapshot_of(tree, [running(a_workload("there", "a", 6), "cheap")])
    heads = [a_workload("of-a", "a", 2), a_workload("of-b", "b", 2, priority=9)]
    first, _ = admission_cycle(snapshot, heads, FairSharing())
    assert (first.workload.name, set(first.amounts)) == ("of-a", {gpus("premium")})


def test_a_preemption_says_who_has_to_stop_and_why() -> None:
    snapshot = snapshot_of(OWNER_AND_BORROWER, [running(a_workload("guest", "borrower", 4))])
    (decision,) = admission_cycle(snapshot, [a_workload("host", "owner", 1)], FairSharing())
    assert decision.outcome is Outcome.PREEMPTING
    assert decision.reason == (
        "Queue owner has it in its own quota of mi300x, once these have stopped: "
        "guest (queue borrower borrows, and queue owner stays within its quota)."
    )


def test_what_a_preemption_frees_beyond_its_need_goes_to_nobody_before_it_is_free() -> None:
    tree = quota_tree(
        [a_queue("owner", "team", mi300x=6, settings=RECLAIMS), *(a_queue(name, "team", mi300x=0) for name in "abc")],
        [CohortSpec("team")],
    )
    snapshot = snapshot_of(tree, [running(a_workload("guest", "a", 5))])
    heads = [a_workload("host", "owner", 2), a_workload("of-b", "b", 1), a_workload("of-c", "c", 1)]

    found = outcomes(admission_cycle(snapshot, heads, None))

    # One GPU is free, though four are left once the guest has stopped.
    assert found == {"host": Outcome.PREEMPTING, "of-b": Outcome.ADMITTED, "of-c": Outcome.OVERTAKEN}


def test_a_queue_that_cannot_take_back_keeps_what_it_waits_for() -> None:
    for policy, other in ((Preemption(), Outcome.OVERTAKEN), (RECLAIMS["preemption"], Outcome.ADMITTED)):
        tree = quota_tree(
            [a_queue("a", "team", mi300x=4, settings={"preemption": policy}), a_queue("b", "team", mi300x=0)],
            [CohortSpec("team")],
        )
        snapshot = snapshot_of(tree, [running(a_workload("there", "a", 2))])
        heads = [a_workload("large", "a", 4), a_workload("small", "b", 2)]
        found = outcomes(admission_cycle(snapshot, heads, FairSharing()))
        assert found == {"large": Outcome.WAITING, "small": other}


def test_a_claim_holds_what_its_victims_leave() -> None:
    guest, host = running(a_workload("guest", "borrower", 4)), a_workload("host", "owner", 3)
    first = admission_pass(snapshot_of(OWNER_AND_BORROWER, [guest]), [host], NOW, sharing=FairSharing())
    assert first.claims == (Claim(host, {gpus(): 3}, (guest,)),)
    eager = a_workload("eager", "borrower", 2, priority=9)
    leaving = running(guest.workload, is_evicting=True)
    second = admission_pass(
        snapshot_of(OWNER_AND_BORROWER, [leaving]), [eager], NOW, sharing=FairSharing(), claims=first.claims
    )
    assert (outcomes(second.decisions), second.claims) == ({"eager": Outcome.WAITING}, first.claims)
    third = admission_pass(
        snapshot_of(OWNER_AND_BORROWER, []), [eager], NOW, sharing=FairSharing(), claims=second.claims
    )
    assert outcomes(third.decisions) == {"host": Outcome.ADMITTED, "eager": Outcome.WAITING}
    assert third.claims == ()


def test_a_claim_on_quota_that_was_taken_away_waits_like_all_others() -> None:
    host = a_workload("host", "owner", 5)
    result = admission_pass(
        snapshot_of(OWNER_AND_BORROWER, []), [], NOW, sharing=None, claims=[Claim(host, {gpus(): 5}, ())]
    )
    assert (outcomes(result.decisions), result.claims) == ({"host": Outcome.WAITING}, ())


def test_what_was_admitted_in_the_same_pass_gives_way_without_a_preemption() -> None:
    # In the first cycle, the owner's head asks for too much, and the borrower gets what is left.
    waiting = [
        a_workload("too-large", "owner", 9, priority=1),
        a_workload("host", "owner", 4),
        a_workload("guest", "borrower", 4),
    ]
    result = admission_pass(snapshot_of(OWNER_AND_BORROWER, []), waiting, NOW, sharing=FairSharing())
    assert outcomes(result.decisions) == {
        "too-large": Outcome.WAITING,
        "host": Outcome.ADMITTED,
        "guest": Outcome.WAITING,
    }
    assert result.claims == ()


def test_who_had_to_give_way_may_have_something_else() -> None:
    tree = quota_tree(
        [
            a_queue("owner", "team", mi210=4, settings=RECLAIMS),
            a_queue("borrower", "team", mi210=0, mi300x=0),
            a_queue("bank", "team", mi300x=4),
        ],
        [CohortSpec("team")],
    )
    waiting = [
        a_workload("too-large", "owner", 9, priority=1),
        a_workload("host", "owner", 4),
        a_workload("guest", "borrower", 4),
    ]
    decisions = admission_pass(snapshot_of(tree, []), waiting, NOW, sharing=FairSharing()).decisions
    amounts = {one.workload.name: set(one.amounts) for one in decisions if one.outcome is Outcome.ADMITTED}
    assert amounts == {"host": {gpus("mi210")}, "guest": {gpus("mi300x")}}


def test_an_entry_penalty_is_only_paid_by_those_that_stay_admitted() -> None:
    decay = UsageDecay(timedelta(minutes=10), timedelta(minutes=10))
    local_queues = {name: LocalQueue(name, NOW) for name in ("ann", "bob")}
    waiting = [
        a_workload("too-large", "owner", 9, priority=1, local_queue="ann"),
        a_workload("host", "owner", 4, local_queue="ann"),
        a_workload("guest", "borrower", 4, local_queue="bob"),
    ]
    result = admission_pass(
        snapshot_of(OWNER_AND_BORROWER, []),
        waiting,
        NOW,
        sharing=FairSharing(),
        admission_sharing=AdmissionFairSharing(decay, local_queues),
    )
    assert result.admission_sharing is not None
    assert result.admission_sharing.usage() == {"ann": 2, "bob": 0}


def test_local_queues_take_turns() -> None:
    tree = quota_tree([a_queue("q", mi300x=4)], [])
    waiting = [
        a_workload(f"{who}-{age}", "q", 1, age=age, local_queue=who) for who in ("ann", "bob") for age in range(4)
    ]
    decay = UsageDecay(timedelta(minutes=10), timedelta(minutes=5))
    result = admission_pass(
        snapshot_of(tree, []),
        waiting,
        NOW,
        sharing=None,
        admission_sharing=AdmissionFairSharing(decay, {name: LocalQueue(name, NOW) for name in ("ann", "bob")}),
    )
    started = [one.workload.name for one in result.decisions if one.outcome is Outcome.ADMITTED]
    assert started == ["ann-3", "bob-3", "ann-2", "bob-2"]
