"""Plans of the `kai` policy: a cycle over the machines of one GPU type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from services.scheduler.fairness.kai.cluster import Cluster, Job, Node, NodeScores, Request, Task, TaskState
from services.scheduler.fairness.kai.cycle import run_cycle
from services.scheduler.fairness.kai.decision import CycleResult, Decision, DecisionKind
from services.scheduler.fairness.kai.policy import Action, Policy
from services.scheduler.fairness.queue_tree import Amounts
from services.scheduler.fairness.settings import DEFAULT_RECLAIM_MIN_RUNTIME
from services.scheduler.fairness.situation import (
    Candidate,
    Machine,
    Plan,
    QueueState,
    Running,
    Scores,
    Situation,
    Stop,
    StopKind,
)
from vocabulary.slots import EIGHTH_MILLI, EIGHTHS_PER_GPU, LEGAL_SIZES

_TAKE_WHAT_IS_FREE = (Action.ALLOCATE,)
_ABOUT_TO_START = "the GPUs that it gets are about to be free"
_ALSO_TAKE_BACK = (Action.ALLOCATE, Action.RECLAIM)
_ALSO_MOVE = (Action.ALLOCATE, Action.CONSOLIDATE, Action.RECLAIM)


def kai_plan(situation: Situation) -> Plan:
    """The plan by fair shares. Within a queue nobody gives way: waiting time and priority order those who wait.

    Runs that may be moved are, if a larger job then fits; nobody loses a place by that.
    """
    names = {machine.machine_id: f"{position:06d}" for position, machine in enumerate(situation.machines)}
    machines = {name: machine_id for machine_id, name in names.items()}
    result = run_cycle(_cluster(situation, names), _policy(situation))
    if not _moves_are_sound(situation, result, machines):
        situation = replace(situation, running=[replace(one, movable=False) for one in situation.running])
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
        tuple(_stops(situation, result, machines)),
        promises,
        dict.fromkeys(promises, _ABOUT_TO_START)
        | {job: reason for job, reason in result.waiting.items() if job not in starts},
        {
            name: QueueState(share.quota[0], share.fair_share[0], share.allocated[0], share.limit[0])
            for name, share in result.shares.items()
        },
    )


def _stops(situation: Situation, result: CycleResult, machines: Mapping[str, str]) -> Iterator[Stop]:
    running = {one.job_id: one for one in situation.running}
    stopped: defaultdict[str, list[Decision]] = defaultdict(list)
    for decision in result.decisions:
        if decision.kind in {DecisionKind.STOP, DecisionKind.MOVE}:
            stopped[decision.job].append(decision)
    for job_id, decisions in stopped.items():
        one, first = running[job_id], decisions[0]
        stop = Stop(job_id, result.winners.get(first.task, ""), first.reason)
        if first.kind is DecisionKind.MOVE:
            yield stop._replace(kind=StopKind.MOVES, machine_id=machines[first.node], eighths=one.eighths)
            continue
        left = one.eighths - len(decisions) * EIGHTHS_PER_GPU if _is_elastic(situation, one) else 0
        size = max((size for size in LEGAL_SIZES if one.least_eighths <= size <= left), default=0)
        if size:
            stop = stop._replace(kind=StopKind.SHRINKS, machine_id=one.machine_id, eighths=size)
        yield stop


def _moves_are_sound(situation: Situation, result: CycleResult, machines: Mapping[str, str]) -> bool:
    """True if each job is moved for a larger one, and to a place that is free now. Equal ones could take turns."""
    sizes = {one.job_id: one.eighths for one in (*situation.running, *situation.waiting)}
    moves = [decision for decision in result.decisions if decision.kind is DecisionKind.MOVE]
    if any(sizes[move.job] >= sizes.get(result.winners.get(move.task, ""), 0) for move in moves):
        return False
    free = {one.machine_id: one.own_gpus * EIGHTHS_PER_GPU for one in situation.machines}
    for one in situation.running:
        if one.machine_id in free:
            free[one.machine_id] -= one.eighths
    for decision in result.decisions:
        if decision.kind in {DecisionKind.START, DecisionKind.MOVE}:
            free[machines[decision.node]] -= sizes[decision.job]
    return all(free[machines[move.node]] >= 0 for move in moves)


def _is_elastic(situation: Situation, one: Running) -> bool:
    """True if it can lose some of its GPUs. As it loses what it has done, its minimum runtime counts for these, too."""
    least = situation.queues.reclaim_min_runtime(situation.queue_of(one))
    return 0 < one.least_eighths < one.eighths and not one.stopping and situation.now - one.start_time >= least


def _policy(situation: Situation) -> Policy:
    actions = _TAKE_WHAT_IS_FREE
    if situation.may_stop:
        actions = _ALSO_MOVE if any(one.movable for one in situation.running) else _ALSO_TAKE_BACK
    return Policy(
        actions=actions,
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
    node, elastic = names[one.machine_id], _is_elastic(situation, one)
    allowed = _names_of(one.machines, names)
    tasks = (Task(one.job_id, _request(one.eighths), state, node, _shared(one.eighths, gpus), nodes_allowed=allowed),)
    if elastic:
        count = one.eighths // EIGHTHS_PER_GPU
        tasks = tuple(
            Task(f"{one.job_id}, GPU {number}", _request(EIGHTHS_PER_GPU), state, node) for number in range(count)
        )
    ran = int((situation.now - one.start_time).total_seconds())
    return Job(
        one.job_id,
        situation.queue_of(one),
        tasks,
        preemptible=not one.keeps,
        min_available=one.least_eighths // EIGHTHS_PER_GPU if elastic else 1,
        ran_seconds=max(0, ran),
        create_order=-1,
        # The GPUs of a range could get places on several machines.
        movable=one.movable and not elastic,
    )


def _waiting(
    situation: Situation, one: Candidate, order: int, names: dict[str, str], machines: Mapping[str, Machine]
) -> Job:
    allowed = _names_of(one.machines, names)
    task = Task(
        one.job_id,
        _request(one.eighths),
        nodes_allowed=allowed,
        promised_node=names.get(one.promised),
        scores=None if one.scores is None else _by_node(one.scores, machines),
    )
    return Job(one.job_id, situation.queue_of(one), (task,), create_order=order)


def _names_of(machines: frozenset[str] | None, names: Mapping[str, str]) -> frozenset[str] | None:
    return None if machines is None else frozenset(names[name] for name in machines if name in names)


@cache
def _request(eighths: int) -> Request:
    """Requests are compared often, and one that is the same object is equal at once."""
    is_part = eighths < EIGHTHS_PER_GPU
    return Request(part_milli=eighths * EIGHTH_MILLI) if is_part else Request(gpus=eighths // EIGHTHS_PER_GPU)


def _shared(eighths: int, gpus: tuple[str, ...]) -> tuple[str, ...]:
    return (gpus or ("0",)) if eighths < EIGHTHS_PER_GPU else ()


def _by_node(scores: Scores, machines: Mapping[str, Machine]) -> NodeScores:
    return lambda rooms: scores([(machines[node], free) for node, free in rooms])
