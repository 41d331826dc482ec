"""Plans of the `kai` policy: a cycle over the machines of one GPU type."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, Request, Task, TaskState
from services.scheduler.fairness.kai.cycle import run_cycle
from services.scheduler.fairness.kai.decision import DecisionKind
from services.scheduler.fairness.kai.policy import Action, Policy
from services.scheduler.fairness.queue_tree import Amounts
from services.scheduler.fairness.settings import DEFAULT_RECLAIM_MIN_RUNTIME
from services.scheduler.fairness.situation import Plan, QueueState, Stop
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from services.scheduler.fairness.kai.cluster import NodeScores
    from services.scheduler.fairness.kai.decision import CycleResult
    from services.scheduler.fairness.situation import Candidate, Machine, Running, Scores, Situation

_TAKE_WHAT_IS_FREE = (Action.ALLOCATE,)
_ABOUT_TO_START = "the GPUs that it gets are about to be free"
_ALSO_TAKE_BACK = (Action.ALLOCATE, Action.RECLAIM)


def kai_plan(situation: Situation) -> Plan:
    """The plan by fair shares. Within a queue nobody gives way: waiting time and priority order those who wait."""
    names = {machine.machine_id: f"{position:06d}" for position, machine in enumerate(situation.machines)}
    machines = {name: machine_id for machine_id, name in names.items()}
    result = run_cycle(_cluster(situation, names), _policy(situation))
    starts: dict[str, str] = {}
    promises: dict[str, str] = {}
    for decision in result.decisions:
        if decision.kind is DecisionKind.START:
            starts[decision.job] = machines[decision.node]
        elif decision.kind is DecisionKind.PROMISE:
            promises[decision.job] = machines[decision.node]
    return Plan(
        starts,
        tuple(_stops(result)),
        promises,
        dict.fromkeys(promises, _ABOUT_TO_START)
        | {job: reason for job, reason in result.waiting.items() if job not in starts},
        {
            name: QueueState(share.quota[0], share.fair_share[0], share.allocated[0], share.limit[0])
            for name, share in result.shares.items()
        },
    )


def _stops(result: CycleResult) -> Iterator[Stop]:
    for decision in result.decisions:
        if decision.kind is DecisionKind.STOP:
            yield Stop(decision.job, result.winners.get(decision.task, ""), decision.reason)


def _policy(situation: Situation) -> Policy:
    return Policy(
        actions=_ALSO_TAKE_BACK if situation.may_stop else _TAKE_WHAT_IS_FREE,
        may_move=False,
        strategies={name: situation.queues.reclaim_strategy(name) for name in situation.queues.leaves},
        reclaim_min_runtime_seconds=int(DEFAULT_RECLAIM_MIN_RUNTIME.total_seconds()),
    )


def _cluster(situation: Situation, names: dict[str, str]) -> Cluster:
    # The memory of a GPU in eighths: parts of GPUs are counted by it.
    nodes = [Node(names[one.machine_id], one.own_gpus, EIGHTHS_PER_GPU) for one in situation.machines]
    running = [_running(situation, one, names) for one in situation.running if one.machine_id in names]
    machines = {names[machine.machine_id]: machine for machine in situation.machines}
    waiting = [_waiting(situation, one, order, names, machines) for order, one in enumerate(situation.waiting)]
    usage = {name: Amounts(gpu_milli=ppm) for name, ppm in situation.usage_ppm.items()}
    tree = situation.queues.tree(situation.gpu_type)
    further = {name: Amounts(eighths * EIGHTH_MILLI) for name, eighths in situation.further_eighths.items()}
    return Cluster(tuple(nodes), (*running, *waiting), tree, further_requests=further, usage_ppm=usage)


def _running(situation: Situation, one: Running, names: dict[str, str]) -> Job:
    state = TaskState.RELEASING if one.stopping else TaskState.RUNNING
    gpus = tuple(dict.fromkeys(str(slot.gpu) for slot in one.slots))
    task = Task(one.job_id, _request(one.eighths), state, names[one.machine_id], _shared(one.eighths, gpus))
    ran = int((situation.now - one.start_time).total_seconds())
    return Job(
        one.job_id,
        situation.queue_of(one),
        (task,),
        preemptible=not one.keeps,
        ran_seconds=max(0, ran),
        create_order=-1,
    )


def _waiting(
    situation: Situation, one: Candidate, order: int, names: dict[str, str], machines: Mapping[str, Machine]
) -> Job:
    allowed = None if one.machines is None else frozenset(names[name] for name in one.machines if name in names)
    task = Task(
        one.job_id,
        _request(one.eighths),
        nodes_allowed=allowed,
        promised_node=names.get(one.promised),
        scores=None if one.scores is None else _by_node(one.scores, machines),
    )
    return Job(one.job_id, situation.queue_of(one), (task,), create_order=order)


@cache
def _request(eighths: int) -> Request:
    """Requests are compared often, and one that is the same object is equal at once."""
    is_part = eighths < EIGHTHS_PER_GPU
    return Request(part_milli=eighths * EIGHTH_MILLI) if is_part else Request(gpus=eighths // EIGHTHS_PER_GPU)


def _shared(eighths: int, gpus: tuple[str, ...]) -> tuple[str, ...]:
    return (gpus or ("0",)) if eighths < EIGHTHS_PER_GPU else ()


def _by_node(scores: Scores, machines: Mapping[str, Machine]) -> NodeScores:
    return lambda rooms: scores([(machines[node], free) for node, free in rooms])
