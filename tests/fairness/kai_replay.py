"""Replays one row on the `kai` engine, and says in words where the two differ; some rows do not apply."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import isclose
from typing import NamedTuple

from services.scheduler.fairness.kai.cluster import Cluster, TaskState
from services.scheduler.fairness.kai.cycle import run_cycle
from services.scheduler.fairness.kai.decision import CycleResult, DecisionKind
from services.scheduler.fairness.kai.fair_share import GRANULES, Claim, divide
from services.scheduler.fairness.kai.min_runtime import (
    ReclaimMethod,
    may_evict,
    preempt_min_runtime_seconds,
    reclaim_min_runtime_seconds,
)
from services.scheduler.fairness.kai.reclaim_rule import QueueShare, Reclaimer, reclaim_verdict
from services.scheduler.fairness.kai.usage import PPM, UsageRecord, decayed
from services.scheduler.fairness.queue_tree import EVERYTHING, RESOURCES, UNLIMITED, Amounts, Queue, checked_tree
from tests.fairness.case_rows import Replays, Row
from tests.fairness.kai_cluster import GPU_MEMORY_MIB, RESOURCE_NAMES, after, cluster_of, policy_of, usage_ppm

CAN_REPLAY = frozenset({"node-affinity", "nvidia-mig (map to CPX partitions or skip)"})
"""Of what rows say that they need, what the engine has. MIG profiles are partitions."""
GPU_UNIT = 1000


class Seen(NamedTuple):
    """A task after a cycle, or at the start of the next round."""

    state: TaskState
    node: str | None
    gpu_groups: tuple[str, ...]


def not_applicable(row: Row) -> str | None:
    """Why the row does not apply to Wavepool; None if it does."""
    lacking = [need for need in row.get("needs", ()) if need not in CAN_REPLAY]
    if lacking:
        return f"needs {', '.join(lacking)}, which Wavepool does not have"
    for job in row.get("jobs", ()) if row["kind"] == "allocation" else ():
        asks = {"gpus_per_task", "gpu_memory_mib_per_task", "cpus_per_task_milli", "mem_per_task", "best_effort"}
        for task in job["tasks"]:
            node = row["nodes"].get(task.get("node"), {})
            if node.get("mig") and (asks | {"gpus", "mig"}).isdisjoint(job | task):
                return "a running task has a MIG partition of KAI's old kind, and the row does not say which"
    return None


def _allocation(row: Row) -> Iterator[str]:
    cluster, policy = cluster_of(row), policy_of(row)
    rounds = row.get("rounds")
    for number in range(1, rounds["until"] + rounds["stable_after"] + 1 if rounds else 2):
        result = run_cycle(cluster, policy)
        yield from (f"round {number}: {fault}" for fault in _over_counts(row, result))
        following = after(cluster, result)
        if not rounds or number >= rounds["until"]:
            seen = _next_round(following) if rounds else _same_round(cluster, result)
            yield from (f"round {number}: {fault}" for fault in _unlike(row, seen, cluster))
        cluster = following


def _same_round(cluster: Cluster, result: CycleResult) -> dict[str, Seen]:
    decisions = {decision.task: decision for decision in result.decisions}
    seen: dict[str, Seen] = {}
    for task in (task for job in cluster.jobs for task in job.tasks):
        at = decisions.get(task.name)
        node, groups = (at.node, at.gpu_groups) if at else (task.node, task.gpu_groups)
        seen[task.name] = Seen(result.states[task.name], node, groups)
    return seen


def _next_round(cluster: Cluster) -> dict[str, Seen]:
    tasks = (task for job in cluster.jobs for task in job.tasks)
    return {task.name: Seen(task.state, task.node, task.gpu_groups) for task in tasks}


def _over_counts(row: Row, result: CycleResult) -> Iterator[str]:
    """Rows say how often tasks are started, stopped and promised a place at most."""
    kinds = Counter(decision.kind for decision in result.decisions)
    counts = {
        "binds": kinds[DecisionKind.START],
        "evictions": kinds[DecisionKind.STOP] + kinds[DecisionKind.MOVE],
        "pipelines": kinds[DecisionKind.PROMISE] + kinds[DecisionKind.MOVE],
    }
    for name, most in row["expect"].get("max_counts", {}).items():
        if counts[name] > most:
            yield f"{counts[name]} {name}, and at most {most} are expected"


def _expected(row: Row, cluster: Cluster) -> dict[str, Row]:
    """What is expected of each task. Some rows name a job among tasks, or a task that there is not."""
    jobs = {job.name: [task.name for task in job.tasks] for job in cluster.jobs}
    known = {task for tasks in jobs.values() for task in tasks}
    expect = row["expect"]
    by_job = {**expect["jobs"], **{name: want for name, want in expect.get("tasks", {}).items() if name in jobs}}
    by_task = {name: want for name, want in expect.get("tasks", {}).items() if name in known}
    return {**{task: want for name, want in by_job.items() for task in jobs[name]}, **by_task}


def _unlike(row: Row, seen: Mapping[str, Seen], cluster: Cluster) -> Iterator[str]:
    expected = _expected(row, cluster)
    for name, want in expected.items():
        state, node, _ = seen[name]
        if state != want["state"]:
            yield f"{name} is {state}, and {want['state']} is expected"
        elif state is not TaskState.PENDING and node != want.get("node", node):
            yield f"{name} is on {node}, and {want['node']} is expected"
    yield from _unlike_groups(expected, seen, cluster)


def _unlike_groups(expected: Mapping[str, Row], seen: Mapping[str, Seen], cluster: Cluster) -> Iterator[str]:
    """Names of GPUs are free, so only which tasks are together counts. Labels that no GPU could hold are skipped."""
    together: defaultdict[tuple[str | None, str], list[str]] = defaultdict(list)
    requests = {task.name: task.request for job in cluster.jobs for task in job.tasks}
    for name, want in expected.items():
        active = seen[name].state in (TaskState.RUNNING, TaskState.BINDING, TaskState.PIPELINED)
        if active and len(want.get("gpu_groups", ())) == len(seen[name].gpu_groups) == 1:
            together[seen[name].node, want["gpu_groups"][0]].append(name)
    for (node, label), names in together.items():
        memory = sum(requests[name].gpu_memory_on(GPU_MEMORY_MIB) for name in names)
        if memory <= GPU_MEMORY_MIB and len({seen[name].gpu_groups for name in names}) > 1:
            yield f"{', '.join(names)} are on several GPUs of {node}, and one, {label!r}, is expected"


def _fair_share(row: Row) -> Iterator[str]:
    for resource, unit, granule in zip(RESOURCE_NAMES, (GPU_UNIT, 1, 1), GRANULES, strict=True):
        if resource not in row["total"]:
            continue
        claims = [_claim(row, position, queue, resource, unit) for position, queue in enumerate(row["queues"])]
        division = divide(round(row["total"][resource] * unit), claims, granule, round(row.get("k_value", 1) * PPM))
        for name, want in row["expect"].get("fair_share", {}).items():
            if resource in want and not isclose(division.shares[name] / unit, want[resource], abs_tol=1e-3):
                yield f"{name} gets {division.shares[name] / unit} {resource}, and {want[resource]} is expected"
        want = row["expect"].get("remaining", {}).get(resource)
        if want is not None and not isclose(division.remaining / unit, want, abs_tol=1e-3):
            yield f"{division.remaining / unit} {resource} is left, and {want} is expected"


def _claim(row: Row, position: int, queue: Row, resource: str, unit: int) -> Claim:
    of = queue.get(resource, {})

    def amount(key: str, default: int) -> int:
        value = of.get(key, default)
        return UNLIMITED if value == -1 else round(value * unit)

    created = int(str(queue.get("created", f"now+{position}")).rpartition("now")[2] or 0)
    return Claim(
        queue["name"],
        amount("quota", 0),
        round(of.get("weight", 0) * GPU_UNIT),
        amount("limit", -1),
        amount("request", 0),
        queue.get("priority", 0),
        created,
        usage_ppm(row, queue, resource),
    )


def _min_runtime(row: Row) -> Iterator[str]:
    tree = checked_tree(
        Queue(
            name,
            queue.get("parent"),
            position,
            preempt_min_runtime_seconds=queue.get("preempt_s"),
            reclaim_min_runtime_seconds=queue.get("reclaim_s"),
        )
        for position, (name, queue) in enumerate(row["queues"].items())
    )
    ask, expect = row["ask"], row["expect"]
    if "preempt_min_runtime_of" in ask:
        got: object = preempt_min_runtime_seconds(tree, ask["preempt_min_runtime_of"])
    elif "reclaim_min_runtime" in ask:
        method, pending, victim = (ask["reclaim_min_runtime"][key] for key in ("method", "pending", "victim"))
        got = reclaim_min_runtime_seconds(tree, pending, victim, ReclaimMethod(method))
    else:
        victim = ask["victim"]
        minimum = (
            preempt_min_runtime_seconds(tree, victim["queue"])
            if ask["action"] == "preempt"
            else reclaim_min_runtime_seconds(tree, ask["pending"], victim["queue"])
        )
        evicted = ask.get("evict_tasks", 1)
        got = may_evict(victim["ran_s"], minimum, victim["tasks"], evicted, victim["min_available"])
    want = expect.get("seconds", expect.get("may_evict"))
    if got != want:
        yield f"{got}, and {want} is expected"


def _reclaim_predicate(row: Row) -> Iterator[str]:
    def gpus(amount: float) -> Amounts:
        return Amounts(gpu_milli=UNLIMITED if amount == -1 else round(amount * GPU_UNIT))

    shares = {
        name: QueueShare(
            name,
            queue.get("parent"),
            EVERYTHING._replace(gpu_milli=gpus(queue["quota"]).gpu_milli),
            gpus(queue["fair_share"]),
            gpus(queue["allocated"]),
            gpus(queue.get("allocated_nonpreemptible", 0)),
        )
        for name, queue in row["queues_gpu"].items()
    }
    ask = row["reclaimer"]
    victims: defaultdict[str, list[Amounts]] = defaultdict(list)
    for victim in row["victims"]:
        victims[victim["queue"]].append(gpus(victim["gpus"]))
    reclaimer = Reclaimer(ask["queue"], gpus(ask["gpus"]), ask["preemptible"])
    verdict = reclaim_verdict(shares, reclaimer, victims, never_below_quota=False)
    if verdict.allowed is not row["expect"]["reclaimable"]:
        yield f"{verdict}, and {row['expect']['reclaimable']} is expected"


def _time_fairshare(row: Row) -> Iterator[str]:
    expect = row["expect"]
    if "queues" in row:
        yield from _fair_share(row)
        return
    if "normalised_usage" in expect:
        hour = 3600
        capacity = row["cluster_gpus"] * row["window_h"] * hour
        used = round(row["usage_gpu_h"] * hour)
        got, want = UsageRecord(0, used, capacity).share_ppm / PPM, expect["normalised_usage"]
    else:
        got = decayed(row["usage"] * PPM, row["age_s"], row["half_life_s"]) / PPM
        want = expect["decayed"]
    if not isclose(got, want, abs_tol=1e-3):
        yield f"{got}, and {want} is expected"


REPLAYS: Replays = {
    "allocation": _allocation,
    "fair_share": _fair_share,
    "min_runtime": _min_runtime,
    "reclaim_predicate": _reclaim_predicate,
    "time_fairshare": _time_fairshare,
}
assert len(RESOURCES) == len(GRANULES)
