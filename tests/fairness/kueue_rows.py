"""Rows of facts from Kueue's own test suite, and how each kind is replayed on our engine.

A row states queues, workloads and what Kueue made of them. A replay gives what differs from that, in words; nothing if
the engine agrees. CPU is counted in thousandths, as quotas are whole numbers. `python -m tests.fairness.kueue_rows`
prints how many rows the engine reproduces, and why not the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from services.scheduler.fairness.kueue.admission_cycle import Outcome, admission_cycle
from services.scheduler.fairness.kueue.admission_pass import admission_pass
from services.scheduler.fairness.kueue.fair_preemption import FairStrategy
from services.scheduler.fairness.kueue.local_queues import AdmissionFairSharing, LocalQueue, UsageDecay
from services.scheduler.fairness.kueue.preemption import Preemptor
from services.scheduler.fairness.kueue.queue_spec import (
    Amounts,
    BorrowWithinCohort,
    CohortSpec,
    FlavorFungibility,
    FlavorPreference,
    FlavorResource,
    Fungibility,
    Preemption,
    QueueSpec,
    Quota,
    ReclaimWithinCohort,
    WithinQueue,
)
from services.scheduler.fairness.kueue.quota_tree import QuotaNode, QuotaTree, quota_tree
from services.scheduler.fairness.kueue.snapshot import Admitted, Snapshot, Workload, snapshot_of
from services.scheduler.fairness.kueue.victims import FairSharing, find_victims
from services.scheduler.fairness.kueue.waiting import Waiting
from tests.fairness.case_rows import Replays, Row, report

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _replay_shares(row: Row) -> list[str]:
    tree = _tree(row)
    snapshot = snapshot_of(tree, [])
    queue = tree.queues["cq"]
    for field in ("usage_of_cq_in_milli_cpu_or_units", "plus_request"):
        for one in row.get(field, []):
            snapshot.usage.add(queue, {FlavorResource(one["flavor"], one["resource"]): one["amount"]})
    differences: list[str] = []
    for expected in row["expect"]["shares"]:
        node = (tree.queues if expected["node"] == "queue" else tree.cohorts)[expected["name"]]
        share = snapshot.usage.share(node)
        got = (share.rounded, share.resource, share.is_borrowing)
        wanted = (expected["share"], expected["resource"], expected["borrowing"])
        if got != wanted:
            differences.append(f"{expected['name']} has {got}, not {wanted}")
    return differences


def _replay_preemption(row: Row) -> list[str]:
    snapshot = _snapshot(row)
    workload = _workload(row["incoming"])
    queue = snapshot.tree.queues[workload.queue]
    amounts, contested = _assignment(row, workload, queue)
    victims = find_victims(snapshot, Preemptor(workload, queue, amounts, contested), _sharing(row))
    wanted = _wanted_victims(row)
    got = sorted((victim.admitted.workload.name, str(victim.reason)) for victim in victims)
    count = row["expect"].get("count", len(wanted))
    if len(got) != count:
        return [f"{len(got)} victims, {got}, not {count}"]
    # Rows that only count have names for those alone that were not preempted before.
    started = {victim.admitted.workload.name for victim in victims if not victim.admitted.is_evicting}
    if [one for one in got if len(wanted) == count or one[0] in started] != wanted:
        return [f"victims are {got}, not {wanted}"]
    return []


def _assignment(row: Row, workload: Workload, queue: QuotaNode) -> tuple[Amounts, frozenset[FlavorResource]]:
    """The flavors that the row has chosen for the incoming workload, and which of them lack quota."""
    chosen = row.get("incoming_assignment")
    if chosen:
        flavors = {resource: FlavorResource(one["flavor"], resource) for resource, one in chosen.items()}
        amounts = {fr: workload.request[resource] for resource, fr in flavors.items()}
        return amounts, frozenset(flavors[resource] for resource, one in chosen.items() if one["mode"] == "Preempt")
    if chosen is None:
        flavor = row.get("incoming_flavor", "default")
        amounts = {FlavorResource(flavor, resource): amount for resource, amount in workload.request.items()}
    else:
        # The request is the sum of several pod sets, one on each flavor; rows keep no more than that.
        amounts = {
            FlavorResource(flavor, resource): amount // len(flavors)
            for resource, amount in workload.request.items()
            for flavors in [queue.flavor_groups[resource].flavors]
            for flavor in flavors
        }
    return amounts, frozenset(amounts)


def _replay_cycle(row: Row) -> list[str]:
    snapshot = _snapshot(row)
    pending = [_workload(one) for one in row["pending"]]
    if "half_life_s" in row:
        decisions = admission_pass(
            snapshot, pending, NOW, sharing=_sharing(row), admission_sharing=_admission_sharing(row)
        ).decisions
    else:
        by_queue: dict[str, list[Workload]] = {}
        for one in pending:
            by_queue.setdefault(one.queue, []).append(one)
        heads = [Waiting(those).head({}) for those in by_queue.values()]
        decisions = admission_cycle(snapshot, heads, _sharing(row))
    admitted = [(one.workload.queue, one.workload.name) for one in decisions if one.outcome is Outcome.ADMITTED]
    got = {
        "admitted": sorted(name for _, name in admitted),
        "pending": sorted(one.name for one in pending if (one.queue, one.name) not in admitted),
        "preempted": sorted(
            (victim.admitted.workload.name, str(victim.reason)) for one in decisions for victim in one.victims
        ),
    }
    wanted = {
        "admitted": sorted(row["expect"]["admitted"]),
        "pending": sorted(row["expect"]["pending"]),
        "preempted": _wanted_victims(row),
    }
    return [f"{part} are {got[part]}, not {wanted[part]}" for part in got if got[part] != wanted[part]]


def _replay_usage(row: Row) -> list[str]:
    """What a request costs at once, or what is left of `usage` after `age_s`, with what was `in_use` meanwhile."""
    decay = UsageDecay(timedelta(seconds=row["half_life_s"]), timedelta(seconds=row.get("sampling_s", 0)))
    if "usage" in row:
        before = LocalQueue("", NOW - timedelta(seconds=row["age_s"]), consumed=_amounts(row["usage"]))
        got: Mapping[str, float] = before.sampled(_amounts(row.get("in_use", {})), decay, NOW).consumed
        expected = row["expect"]["decayed"]
    else:
        got = decay.entry_penalty(_amounts(row["request"]))
        expected = {
            field.removeprefix("penalty_").removesuffix("_approx"): cost for field, cost in row["expect"].items()
        }
    return [
        f"{resource} is {got[resource] / _amount(resource, 1)}, not {wanted}"
        for resource, wanted in expected.items()
        if abs(got[resource] / _amount(resource, 1) - wanted) > 0.0001
    ]


def _wanted_victims(row: Row) -> list[tuple[str, str]]:
    return sorted((one["workload"], one["reason"].removesuffix("Reason")) for one in row["expect"]["preempted"])


def _sharing(row: Row) -> FairSharing | None:
    if "fair-sharing" not in row["policy"]:
        return None
    if "fs_strategies" in row:
        return FairSharing(tuple(FairStrategy(name) for name in row["fs_strategies"]))
    return FairSharing()


def _admission_sharing(row: Row) -> AdmissionFairSharing:
    decay = UsageDecay(
        timedelta(seconds=row["half_life_s"]),
        timedelta(seconds=row["sampling_s"]),
        # Kueue adds up whole CPUs and bytes.
        {"cpu": 1 / _amount("cpu", 1)},
    )
    return AdmissionFairSharing(
        decay,
        {
            one["name"]: LocalQueue(
                one["name"],
                NOW,
                one["weight"],
                _amounts(row["initial_usage"].get(one["name"], {})),
            )
            for one in row["local_queues"]
        },
    )


def _snapshot(row: Row) -> Snapshot:
    return snapshot_of(_tree(row), [_admitted(one) for one in row["admitted"]])


def _admitted(row: Row) -> Admitted:
    workload = _workload(row)
    if "usage" in row:
        usage = {
            FlavorResource(flavor, resource): _amount(resource, amount)
            for flavor, amounts in row["usage"].items()
            for resource, amount in amounts.items()
        }
    else:
        usage = {FlavorResource(row["flavor"], name): amount for name, amount in workload.request.items()}
    admit_time = NOW + timedelta(seconds=row.get("admitted_at_s", 0))
    return Admitted(workload, usage, admit_time, row.get("already_evicted", False))


def _workload(row: Row) -> Workload:
    return Workload(
        name=row["name"],
        queue=row["queue"],
        priority=row["priority"],
        request=_amounts(row["request"]),
        create_time=NOW + timedelta(seconds=row.get("created_s", 0)),
        local_queue=row.get("local_queue") or "",
    )


def _tree(row: Row) -> QuotaTree:
    cohorts = {one["name"]: one for one in row.get("cohorts", [])}
    # Naming a cohort is enough for it to be there.
    named = [one["cohort"] for one in row["queues"]] + [one["parent"] for one in cohorts.values()]
    cohorts |= {name: {"name": name, "parent": None} for name in named if name and name not in cohorts}
    return quota_tree(
        [
            QueueSpec(
                one["name"],
                one["cohort"],
                _quotas(one),
                _weight(one),
                _preemption(one.get("preemption") or {}),
                _fungibility(one.get("flavor_fungibility") or {}),
            )
            for one in row["queues"]
        ],
        [CohortSpec(one["name"], one["parent"], _quotas(one), _weight(one)) for one in cohorts.values()],
    )


def _quotas(row: Row) -> dict[FlavorResource, Quota]:
    return {
        FlavorResource(one["flavor"], one["resource"]): Quota(
            *(
                None if one.get(field) is None else _amount(one["resource"], one[field])
                for field in ("nominal", "borrowing_limit", "lending_limit")
            )
        )
        for one in row.get("quotas", [])
    }


def _weight(row: Row) -> Fraction:
    weight = row.get("weight")
    return Fraction(1) if weight is None else Fraction(str(weight))


def _preemption(row: Row) -> Preemption:
    borrow = row.get("borrow_within_cohort") or {}
    return Preemption(
        WithinQueue(row.get("within_queue", "Never")),
        ReclaimWithinCohort(row.get("reclaim_within_cohort", "Never")),
        BorrowWithinCohort(borrow.get("policy", "Never")),
        borrow.get("max_priority"),
    )


def _fungibility(row: Row) -> FlavorFungibility:
    # The names before v1beta2 of Kueue's API.
    older = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}
    borrow, preempt = row.get("WhenCanBorrow", "MayStopSearch"), row.get("WhenCanPreempt", "TryNextFlavor")
    return FlavorFungibility(
        Fungibility(older.get(borrow, borrow)),
        Fungibility(older.get(preempt, preempt)),
        FlavorPreference(row.get("Preference", "BorrowingOverPreemption")),
    )


def _amounts(row: Row) -> dict[str, int]:
    return {resource: _amount(resource, amount) for resource, amount in row.items()}


def _amount(resource: str, amount: float) -> int:
    scaled = Fraction(str(amount)) * (1000 if resource == "cpu" else 1)
    return int(scaled)


REPLAYS: Replays = {
    "admission_cycle": _replay_cycle,
    "drs": _replay_shares,
    "preemption": _replay_preemption,
    "time_fairshare": _replay_usage,
}

if __name__ == "__main__":
    print(report("kueue", REPLAYS))  # noqa: T201 - the report of a program
