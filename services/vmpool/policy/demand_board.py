"""What waits for machines, as the scheduler reports it and as failed calls for a lease show.

It is kept in memory: after a restart both tell it again within seconds. Both are forgotten when they are not repeated,
so that a scheduler that died keeps no machine running.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.policy.packing import Demand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from services.vmpool.machines.lease import LeaseRequest

Kind = tuple[str, int, tuple[str, ...]]
"""GPU type, eighths, and fallback GPU types."""


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
        self._granted: dict[str, LeaseRequest] = {}

    def report(self, demands: Sequence[Demand], now: datetime) -> None:
        """All that waits; it replaces what was reported before."""
        self._report = _Report(demands, now)
        self._granted.clear()

    def refused(self, request: LeaseRequest, now: datetime) -> None:
        """A job asked for a lease on any machine, and there was no room."""
        self._refused[request.job_id] = (request, now)

    def granted(self, request: LeaseRequest) -> None:
        """A job has its lease, and waits no more, though the report may still count it."""
        self._refused.pop(request.job_id, None)
        self._granted[request.job_id] = request

    def present(self, now: datetime) -> Sequence[Demand]:
        """What waits now. A job that was refused is in the scheduler's report too, so the larger of the two counts."""
        refused = self._refused_now(now)
        reported = self._reported_now(now)
        return [
            Demand(gpu_type, eighths, max(refused[kind], reported[kind]), fallbacks)
            for kind in sorted(refused.keys() | reported.keys())
            for gpu_type, eighths, fallbacks in [kind]
        ]

    def _refused_now(self, now: datetime) -> Counter[Kind]:
        self._refused = {
            job_id: (request, time) for job_id, (request, time) in self._refused.items() if now - time < self._lifetime
        }
        return Counter(_kind(request) for request, _ in self._refused.values())

    def _reported_now(self, now: datetime) -> Counter[Kind]:
        waiting: Counter[Kind] = Counter()
        if self._report and now - self._report.time < self._lifetime:
            for demand in self._report.demands:
                waiting[_kind(demand)] += demand.jobs
        # Counters subtract down to zero and no further.
        return waiting - Counter(_kind(request) for request in self._granted.values())


def _kind(wanted: Demand | LeaseRequest) -> Kind:
    return wanted.gpu_type, wanted.eighths, wanted.fallback_gpu_types
