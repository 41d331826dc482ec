"""Admission fair sharing: whose workloads go first in a queue, by what their local queues used lately.

What a local queue uses is remembered with a half-life. As usage grows only while workloads run, each admission also
costs an entry penalty at once: what the workload will have added after one sampling interval. So a local queue cannot
have many admitted in a row before its usage catches up with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import inf

from services.scheduler.fairness.kueue.snapshot import Workload

_HALF = 0.5


@dataclass(frozen=True)
class UsageDecay:
    """How fast usage is forgotten, and what counts as usage."""

    half_life: timedelta
    """After this time without use, half of the usage is left. Zero remembers nothing."""
    sampling: timedelta
    """How long it takes until a workload's own usage is noticed: its entry penalty stands for this time."""
    resource_weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """What one unit of a resource counts; 1 if it is not named."""

    def kept(self, elapsed: timedelta) -> float:
        """The part of the usage that is left after this time, 0 to 1."""
        return _HALF ** (elapsed / self.half_life) if self.half_life else 0.0

    def entry_penalty(self, request: Mapping[str, int]) -> dict[str, float]:
        """What an admission adds to the usage, by resource; nothing if usage is not remembered."""
        rate = 1 - self.kept(self.sampling) if self.half_life else 0.0
        return {resource: amount * rate for resource, amount in request.items()}


@dataclass(frozen=True)
class LocalQueue:
    """A user's or team's queue, with what it used lately."""

    name: str
    sample_time: datetime
    """When `consumed` was right."""
    weight: float = 1
    """With twice the weight, the same usage counts half; with 0 it goes after all others."""
    consumed: Mapping[str, float] = field(default_factory=dict[str, float])
    """By resource, with entry penalties."""

    def entered(self, request: Mapping[str, int], decay: UsageDecay) -> LocalQueue:
        """The local queue after one of its workloads was admitted."""
        consumed = dict(self.consumed)
        for resource, amount in decay.entry_penalty(request).items():
            consumed[resource] = consumed.get(resource, 0) + amount
        return replace(self, consumed=consumed)

    def sampled(self, in_use: Mapping[str, int], decay: UsageDecay, now: datetime) -> LocalQueue:
        """The local queue at a later time, if it used this much since the last sample."""
        kept = decay.kept(now - self.sample_time)
        consumed = {
            resource: self.consumed.get(resource, 0) * kept + in_use.get(resource, 0) * (1 - kept)
            for resource in sorted(self.consumed.keys() | in_use.keys())
        }
        return replace(self, sample_time=now, consumed=consumed)

    def weighted_usage(self, decay: UsageDecay) -> float:
        """What it is compared by: the smaller one goes first. Infinite for a weight of 0."""
        if not self.weight:
            return inf
        total = sum(amount * decay.resource_weights.get(resource, 1) for resource, amount in self.consumed.items())
        return total / self.weight


@dataclass(frozen=True)
class AdmissionFairSharing:
    """Admission fair sharing is on, with the local queues as they are now."""

    decay: UsageDecay
    local_queues: Mapping[str, LocalQueue] = field(default_factory=dict[str, "LocalQueue"])
    """By name. The workloads of others count as those of a local queue that used nothing, and stay so."""

    def usage(self) -> dict[str, float]:
        """The weighted usage by local queue."""
        return {name: one.weighted_usage(self.decay) for name, one in self.local_queues.items()}

    def entered(self, workload: Workload) -> AdmissionFairSharing:
        """The state after the workload was admitted."""
        return self._changed(workload, workload.request)

    def left(self, workload: Workload) -> AdmissionFairSharing:
        """The state as if the workload had not been admitted."""
        return self._changed(workload, {resource: -amount for resource, amount in workload.request.items()})

    def _changed(self, workload: Workload, request: Mapping[str, int]) -> AdmissionFairSharing:
        local_queue = self.local_queues.get(workload.local_queue)
        if local_queue is None:
            return self
        changed = local_queue.entered(request, self.decay)
        return replace(self, local_queues={**self.local_queues, changed.name: changed})
