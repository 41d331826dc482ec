"""Waiting work, as the scheduler reports it and as failed calls for a lease show it.

It is kept in memory: after a restart, both come again within seconds. Both are forgotten unless they are repeated, so
that a scheduler that died keeps no machine running.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.vmpool.machines.lease import Holder, LeaseRequest, PlacedRequest, time_needed
from services.vmpool.policy.packing import Demand

Kind = tuple[str, int, tuple[str, ...], timedelta]
"""GPU type, eighths in all, fallback GPU types, and the length of reservations."""


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
        """Replace all that is known by all the work that waits now: a job that was refused may be cancelled."""
        self._report = _Report(demands, now)
        self._refused.clear()
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
            Demand(gpu_type, eighths, max(refused[kind], reported[kind]), fallbacks, longest_time=length)
            for kind in sorted(refused.keys() | reported.keys())
            for gpu_type, eighths, fallbacks, length in [kind]
        ] + [demand for demand in self._own(now) if demand.own_job_id not in self._granted]

    def _refused_now(self, now: datetime) -> Counter[Kind]:
        self._refused = {
            job_id: (request, time) for job_id, (request, time) in self._refused.items() if now - time < self._lifetime
        }
        reported = [
            (one.gpu_type, one.eighths, one.fallback_gpu_types, one.longest_time)
            for one in self._fresh(now)
            if not one.own_job_id
        ]
        return Counter(_nearest(kind, reported) for request, _ in self._refused.values() for kind in _kinds(request))

    def _reported_now(self, now: datetime) -> Counter[Kind]:
        waiting: Counter[Kind] = Counter()
        for demand in self._fresh(now):
            if not demand.own_job_id:
                kind = (demand.gpu_type, demand.eighths, demand.fallback_gpu_types, demand.longest_time)
                waiting[kind] += demand.jobs
        own = {demand.own_job_id for demand in self._own(now)}
        granted = (request for job_id, request in self._granted.items() if job_id not in own)
        taken = Counter(_nearest(kind, waiting) for request in granted for kind in _kinds(request))
        # Counters subtract down to zero and no further.
        return waiting - taken

    def _own(self, now: datetime) -> Sequence[Demand]:
        """The jobs that want machines of their own."""
        return [demand for demand in self._fresh(now) if demand.own_job_id]

    def _fresh(self, now: datetime) -> Sequence[Demand]:
        return self._report.demands if self._report and now - self._report.time < self._lifetime else ()


def _kinds(request: LeaseRequest | PlacedRequest) -> list[Kind]:
    """The kind of each lease of a request; a gang is reported as so many jobs."""
    length = time_needed(request) if request.holder is Holder.RESERVATION else timedelta(0)
    return [(request.gpu_type, size, request.fallback_gpu_types, length) for size in request.sizes]


def _nearest(kind: Kind, reported: Iterable[Kind]) -> Kind:
    """The reported kind that a request belongs to: a reservation's time runs on between its report and its request."""
    *same, length = kind
    lengths = [other for *rest, other in reported if rest == same and bool(other) == bool(length)]
    return (*kind[:3], min(lengths, key=lambda other: abs(other - length), default=length))
