"""Waiting work, as the scheduler reports it and as failed calls for a lease show it.

It is kept in memory: after a restart, both come again within seconds. Both are forgotten unless they are repeated, so
that a scheduler that died keeps no machine running.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.policy.packing import Demand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from services.vmpool.machines.lease import LeaseRequest, PlacedRequest

Kind = tuple[str, int, tuple[str, ...]]
"""GPU type, eighths in all, and fallback GPU types."""


@dataclass(frozen=True)
class _Report:
    demands: Sequence[Demand]
    time: datetime


class DemandBoard:
    """Demand that is younger than `lifetime`."""

    def __init__(self, lifetime: timedelta) -> None:
        self._lifetime = lifetime
        self._report: _Report | None = None
        self._refused: dict[str, tuple[LeaseRequest, datetime]] = {}
        self._granted: dict[str, LeaseRequest | PlacedRequest] = {}

    def report(self, demands: Sequence[Demand], now: datetime) -> None:
        """Replace the reported demand by all the work that waits now."""
        self._report = _Report(demands, now)
        self._granted.clear()

    def refused(self, request: LeaseRequest, now: datetime) -> None:
        """Note that a job asked for a lease on any machine and found no room."""
        self._refused[request.job_id] = (request, now)

    def granted(self, request: LeaseRequest | PlacedRequest) -> None:
        """Note that a job has its leases and no longer waits, though the report may still count it."""
        self._refused.pop(request.job_id, None)
        self._granted[request.job_id] = request

    def present(self, now: datetime) -> Sequence[Demand]:
        """The demand now. A refused job is in the scheduler's report too, so the larger of the two numbers counts."""
        refused = self._refused_now(now)
        reported = self._reported_now(now)
        return [
            Demand(gpu_type, eighths, max(refused[kind], reported[kind]), fallbacks)
            for kind in sorted(refused.keys() | reported.keys())
            for gpu_type, eighths, fallbacks in [kind]
        ] + [demand for demand in self._own(now) if demand.own_job_id not in self._granted]

    def _refused_now(self, now: datetime) -> Counter[Kind]:
        self._refused = {
            job_id: (request, time) for job_id, (request, time) in self._refused.items() if now - time < self._lifetime
        }
        return Counter(kind for request, _ in self._refused.values() for kind in _kinds(request))

    def _reported_now(self, now: datetime) -> Counter[Kind]:
        waiting: Counter[Kind] = Counter()
        for demand in self._fresh(now):
            if not demand.own_job_id:
                waiting[demand.gpu_type, demand.eighths, demand.fallback_gpu_types] += demand.jobs
        own = {demand.own_job_id for demand in self._own(now)}
        granted = (request for job_id, request in self._granted.items() if job_id not in own)
        # Counters subtract down to zero and no further.
        return waiting - Counter(kind for request in granted for kind in _kinds(request))

    def _own(self, now: datetime) -> Sequence[Demand]:
        """The jobs that want machines of their own."""
        return [demand for demand in self._fresh(now) if demand.own_job_id]

    def _fresh(self, now: datetime) -> Sequence[Demand]:
        return self._report.demands if self._report and now - self._report.time < self._lifetime else ()


def _kinds(request: LeaseRequest | PlacedRequest) -> list[Kind]:
    """The kind of each lease of a request; a gang is reported as so many jobs."""
    return [(request.gpu_type, size, request.fallback_gpu_types) for size in request.sizes]
