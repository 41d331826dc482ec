"""Finds nodes for the tasks of a job: for all that it starts, or for none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from services.scheduler.fairness.kai.capacity import amounts_in_words, non_preemptible_over_quota, over_limit
from services.scheduler.fairness.kai.cluster import Job, Request, Task, TaskState
from services.scheduler.fairness.kai.cycle_state import CycleState
from services.scheduler.fairness.kai.node_room import Holding, NodeRoom

Kind: TypeAlias = "tuple[Request, frozenset[str] | None]"
NoRoom: TypeAlias = set[Kind]
"""Requests that no node has room for, with the nodes that they may be on."""


def kind_of(task: Task) -> Kind:
    """All that says whether a node has room for the task."""
    return task.request, task.nodes_allowed


def place_job(
    state: CycleState,
    job: Job,
    tasks: Sequence[Task],
    no_room: NoRoom | None = None,
    *,
    spread: bool = False,
    promise_only: bool = False,
) -> str | None:
    """Gives the tasks places, and returns None; or changes nothing, and returns why it cannot.

    With `promise_only` all tasks wait, as in plans that stop others first. Otherwise tasks start at once where there is
    room; a job that could not run with them alone waits as a whole. `no_room` remembers what did not fit: a caller that
    only ever starts tasks keeps it, so that each kind of request is looked for once.
    """
    required = state.required(tasks)
    refusal = over_limit(state, job, required) or non_preemptible_over_quota(state, job, required)
    if refusal:
        return refusal
    checkpoint = state.checkpoint()
    no_room = set() if no_room is None else no_room
    for placed, task in enumerate(tasks):
        kind = kind_of(task)
        if kind in no_room or not _place_task(state, task, spread=spread, promise_only=promise_only):
            state.rollback(checkpoint)
            if not placed:
                no_room.add(kind)
            return no_room_in_words(state, tasks, placed)
    if not promise_only and _must_wait(state, job):
        state.postpone(job)
    return None


def no_room_in_words(state: CycleState, tasks: Sequence[Task], placed: int = 0) -> str:
    """Why the tasks wait if there is room for no more than `placed` of them."""
    task = tasks[placed]
    found = f"; there is room for {placed} of {len(tasks)} tasks" if len(tasks) > 1 else ""
    return f"no node has room for task {task.name} ({amounts_in_words(state.amounts(task))}){found}"


def _place_task(state: CycleState, task: Task, *, spread: bool, promise_only: bool) -> bool:
    room = best_room(state, task, spread=spread)
    if room is None:
        return False
    holding = _holding(room, task, spread=spread, promise_only=promise_only)
    if state.is_being_evicted(task) and _is_where_it_was(state, task, room, holding):
        state.keep(task)
    else:
        state.start(task, holding)
    return True


def best_room(state: CycleState, task: Task, *, spread: bool) -> NodeRoom | None:
    """The node for the task: first by promise, then by room on a shared GPU, by room now, by what it costs, by name."""
    request = task.request
    fitting = [
        room
        for room in state.rooms.values()
        if (task.nodes_allowed is None or room.node.name in task.nodes_allowed) and room.fits_later(request)
    ]
    costs = _costs(fitting, task, spread=spread)
    return min(
        fitting,
        key=lambda room: (
            room.node.name != task.promised_node,
            not (request.is_shared and room.shares_now(request)),
            not room.fits_now(request),
            request.needs_gpu == (not room.node.gpus and not room.node.partitions),
            costs[room.node.name],
            room.node.name,
        ),
        default=None,
    )


def _costs(fitting: Sequence[NodeRoom], task: Task, *, spread: bool) -> dict[str, float]:
    """What speaks against each node: what is free there, or what is in use if jobs are spread, or the task's scores."""
    if task.scores is not None:
        scores = task.scores([(room.node.name, room.gpus_later) for room in fitting])
        return {room.node.name: -score for room, score in zip(fitting, scores, strict=True)}
    sign, needs_gpu = -1 if spread else 1, task.request.needs_gpu
    return {room.node.name: sign * (room.gpus_later if needs_gpu else room.cpu_later_milli) for room in fitting}


def _holding(room: NodeRoom, task: Task, *, spread: bool, promise_only: bool) -> Holding:
    if task.request.is_shared:
        holding = room.choose_groups(task.request, task.promised_groups, spread=spread)
        return holding._replace(state=TaskState.PIPELINED) if promise_only else holding
    waits = promise_only or not room.fits_now(task.request)
    return Holding(room.node.name, TaskState.PIPELINED if waits else TaskState.BINDING)


def _is_where_it_was(state: CycleState, task: Task, room: NodeRoom, holding: Holding) -> bool:
    """True if the place found for an evicted task is the one that it has.

    A new GPU is as good as its own, if nobody else is on that later.
    """
    held = state.places[task.name].held
    if held is None or held.node != room.node.name:
        return False
    if set(holding.gpu_groups) == set(held.gpu_groups):
        return True
    return not any(room.is_shared_later(group) for group in (*holding.gpu_groups, *held.gpu_groups))


def _must_wait(state: CycleState, job: Job) -> bool:
    """True if some tasks wait, and those that do not are too few to run."""
    states = [state.state_of(task) for task in job.tasks]
    starting = sum(state in (TaskState.BINDING, TaskState.RUNNING) for state in states)
    return TaskState.PIPELINED in states and starting < job.min_available
