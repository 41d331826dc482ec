"""Converts queues, their changes and their shares to protos and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from wavepool.scheduler.v1 import queues_pb2

from servicekit.rpc.proto_time import duration_to_proto
from services.scheduler.fairness.queue_tree import DEFAULT_PRIORITY, UNLIMITED, WHOLE_GPU_MILLI, ReclaimStrategy
from services.scheduler.fairness.settings import (
    ANY_GPU,
    DURATIONS,
    FairnessPolicy,
    JobClass,
    QueueChange,
    QueueSettings,
    Share,
)
from services.scheduler.fairness.situation import QueueState
from services.scheduler.jobs.errors import InvalidFieldError
from vocabulary.names import known_name

_POLICIES = {policy: queues_pb2.FairnessPolicy.Value(f"FAIRNESS_POLICY_{policy.name}") for policy in FairnessPolicy}
_STRATEGIES = {
    strategy: queues_pb2.ReclaimStrategy.Value(f"RECLAIM_STRATEGY_{strategy.name}") for strategy in ReclaimStrategy
}
Name = TypeVar("Name")
_SHARE_FIELDS = ("quota", "over_quota_weight", "limit", "lending_limit", "borrowing_limit")
_EVERYTHING = -1.0
_LARGEST_GPUS = 1e9


def queue_from_proto(message: queues_pb2.Queue, gpu_types: Sequence[str]) -> QueueSettings:
    """A queue as it was sent; GPU types get their one spelling if they are known. Raises InvalidFieldError."""
    where = f"queues[{message.name}]"
    return QueueSettings(
        name=message.name,
        display_name=message.display_name,
        parent=message.parent,
        priority=message.priority if message.HasField("priority") else DEFAULT_PRIORITY,
        resources={
            known_name(name, [ANY_GPU, *gpu_types]) or name: _share(f"{where}.resources.{name}", resource)
            for name, resource in sorted(message.resources.items())
        },
        policy=_named(f"{where}.policy", message.policy, _POLICIES),
        reclaim_strategy=_named(f"{where}.reclaim_strategy", message.reclaim_strategy, _STRATEGIES),
        max_jobs_per_user=message.max_jobs_per_user,
        closed=message.closed,
        ordering=message.ordering,
        placement=message.placement,
        classes={name: JobClass(one.value, one.administrators_only) for name, one in sorted(message.classes.items())},
        default_class=message.default_class,
        max_priority=message.max_priority if message.HasField("max_priority") else None,
        max_priority_by_account=dict(sorted(message.max_priority_by_account.items())),
        **{name: getattr(message, name).ToTimedelta() for name in DURATIONS if message.HasField(name)},
    )


def queue_to_proto(queue: QueueSettings) -> queues_pb2.Queue:
    """A queue with the fields that were said of it."""
    message = queues_pb2.Queue(
        name=queue.name,
        display_name=queue.display_name,
        parent=queue.parent,
        priority=queue.priority,
        policy=_POLICIES[queue.policy] if queue.policy else queues_pb2.FAIRNESS_POLICY_UNSPECIFIED,
        max_jobs_per_user=queue.max_jobs_per_user,
        closed=queue.closed,
        ordering=queue.ordering,
        placement=queue.placement,
        classes=classes_to_proto(queue.classes),
        default_class=queue.default_class,
        max_priority=queue.max_priority,
        max_priority_by_account=queue.max_priority_by_account,
    )
    if queue.reclaim_strategy:
        message.reclaim_strategy = _STRATEGIES[queue.reclaim_strategy]
    for name in DURATIONS:
        if (duration := getattr(queue, name)) is not None:
            getattr(message, name).CopyFrom(duration_to_proto(duration))
    for name, share in queue.resources.items():
        for field in _SHARE_FIELDS:
            amount = getattr(share, field)
            if amount is not None:
                setattr(message.resources[name], field, gpus(amount))
        message.resources.get_or_create(name)
    return message


def classes_to_proto(classes: Mapping[str, JobClass]) -> dict[str, queues_pb2.JobClass]:
    """Classes by name."""
    return {
        name: queues_pb2.JobClass(value=one.value, administrators_only=one.administrators_only)
        for name, one in classes.items()
    }


def change_to_proto(change: QueueChange) -> queues_pb2.QueueChange:
    """What happens to a queue."""
    return queues_pb2.QueueChange(
        name=change.name,
        kind=queues_pb2.QueueChangeKind.Value(f"QUEUE_CHANGE_KIND_{change.kind.upper()}"),
        fields=[
            queues_pb2.QueueFieldChange(field=field, before=before, after=after)
            for field, before, after in change.fields
        ],
    )


def share_to_proto(gpu_type: str, state: QueueState) -> queues_pb2.QueueShare:
    """What a queue may have and has of a GPU type."""
    return queues_pb2.QueueShare(
        gpu_type=gpu_type,
        quota=gpus(state.quota),
        fair_share=gpus(state.fair_share),
        used=gpus(state.used),
        limit=None if state.limit >= UNLIMITED else gpus(state.limit),
    )


def gpus(milli: int) -> float:
    """Thousandths of a GPU as GPUs; -1 for everything."""
    return _EVERYTHING if milli >= UNLIMITED else milli / WHOLE_GPU_MILLI


def _share(where: str, message: queues_pb2.QueueResource) -> Share:
    said = [field for field in _SHARE_FIELDS if message.HasField(field)]
    return Share(**{field: _milli(f"{where}.{field}", getattr(message, field)) for field in said})


def _milli(where: str, amount: float) -> int:
    if amount == _EVERYTHING:
        return UNLIMITED
    # A NaN is neither.
    if not -_LARGEST_GPUS <= amount <= _LARGEST_GPUS:
        raise InvalidFieldError(where, f"is {amount}; give 0 to 1000000, or -1 for no limit")
    return round(amount * WHOLE_GPU_MILLI)


def _named(where: str, number: int, names: Mapping[Name, int]) -> Name | None:
    if not number:
        return None
    found = next((name for name, known in names.items() if known == number), None)
    if found is None:
        raise InvalidFieldError(where, f"is {number}; give {', '.join(str(known) for known in names.values())}, or 0")
    return found
