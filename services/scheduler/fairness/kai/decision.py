"""What a cycle decided, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from services.scheduler.fairness.kai.cluster import ALLOCATED, Task, TaskState
from services.scheduler.fairness.kai.cycle_state import NOWHERE, CycleState
from services.scheduler.fairness.kai.reclaim_rule import QueueShare


class DecisionKind(StrEnum):
    """What happens to a task."""

    START = "start"
    PROMISE = "promise"
    """It gets this place when the tasks that stop there are gone."""
    MOVE = "move"
    """It stops, and is promised another place."""
    STOP = "stop"


class Decision(NamedTuple):
    """One task's fate, with the reason in words."""

    kind: DecisionKind
    task: str
    job: str
    node: str
    """Where it will be; for a task that stops, where it was."""
    gpu_groups: tuple[str, ...]
    reason: str


class CycleResult(NamedTuple):
    """All that a cycle decided."""

    decisions: tuple[Decision, ...]
    waiting: Mapping[str, str]
    """Why each job that did not get all that it waits for waits."""
    states: Mapping[str, TaskState]
    """The state of each task, by name."""
    winners: Mapping[str, str]
    """The job that each task that is stopped or moved gives its place to, by the task's name."""
    shares: Mapping[str, QueueShare]
    """What each queue may have, and has with these decisions."""


def result_of(state: CycleState) -> CycleResult:
    """The cycle's result: the difference between the cluster and the plan."""
    states = {task.name: state.state_of(task) for task in state.tasks.values()}
    waiting = {
        job.name: state.waiting[job.name]
        for job in state.jobs.values()
        if job.name in state.waiting and any(states[task.name] is TaskState.PENDING for task in job.tasks)
    }
    return CycleResult(
        tuple(_decisions(state)),
        waiting,
        states,
        dict(state.winners),
        state.shares(),
    )


def _decisions(state: CycleState) -> Iterator[Decision]:
    for job in state.jobs.values():
        for task in job.tasks:
            found = _decision(state, task)
            if found:
                kind, node, gpu_groups = found
                yield Decision(kind, task.name, job.name, node, gpu_groups, state.reasons.get(task.name, ""))


def _decision(state: CycleState, task: Task) -> tuple[DecisionKind, str, tuple[str, ...]] | None:
    place, now = state.places.get(task.name, NOWHERE), state.state_of(task)
    if now is task.state:
        return None
    if place.promised:
        kind = DecisionKind.MOVE if task.state in ALLOCATED else DecisionKind.PROMISE
        return kind, place.promised.node, place.promised.gpu_groups
    if place.held:
        kind = DecisionKind.STOP if now is TaskState.RELEASING else DecisionKind.START
        return kind, place.held.node, place.held.gpu_groups
    return None
