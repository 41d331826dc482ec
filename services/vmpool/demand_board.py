"""What waits for machines, as the scheduler reports it and as failed calls for a lease show.

It is kept in memory: after a restart both tell it again within seconds. Both are forgotten when they are not repeated,
so that a scheduler that died keeps no machine running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.sizing import Demand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta

    from services.vmpool.lease import LeaseRequest

type_and_size = tuple[str, int]


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

    def report(self, demands: Sequence[Demand], now: datetime) -> None:
        """All that waits; it replaces what was reported before."""
        self._report = _Report(demands, now)

    def refused(self, request: LeaseRequest, now: datetime) -> None:
        """A job asked for a lease on any machine, and there was no room."""
        self._refused[request.job_id] = (request, now)

    def granted(self, job_id: str) -> None:
        """A job has its lease."""
        self._refused.pop(job_id, None)

    def present(self, now: datetime) -> Sequence[Demand]:
        """What waits now. A job that was refused is in the scheduler's report too, so the larger of the two counts."""
        self._refused = {
            job_id: (request, time) for job_id, (request, time) in self._refused.items() if now - time < self._lifetime
        }
        jobs: dict[type_and_size, int] = {}
        for request, _ in self._refused.values():
            key = (request.gpu_type, request.eighths)
            jobs[key] = jobs.get(key, 0) + 1
        reported: dict[type_and_size, int] = {}
        if self._report and now - self._report.time < self._lifetime:
            for demand in self._report.demands:
                key = (demand.gpu_type, demand.eighths)
                reported[key] = reported.get(key, 0) + demand.jobs
        return [
            Demand(*key, max(jobs.get(key, 0), reported.get(key, 0))) for key in sorted(jobs.keys() | reported.keys())
        ]
