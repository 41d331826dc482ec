"""Forecasts a job's place in the queue and its wait, and counts how often the forecasts came true."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from services.scheduler import metrics
from services.scheduler.jobs.estimate import PLAYED_AHEAD, Slots, WaitEstimate, percentile, wait_estimate
from services.scheduler.jobs.run_history import RunHistory, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from servicekit.clock import Clock
    from services.scheduler.jobs.job import Job
    from services.scheduler.jobs.run_history import RunKind
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.running import RunningJobs
    from services.scheduler.queue.waiting import WaitingJobs

RETRY_WITHOUT_HISTORY = timedelta(seconds=5)
_PROMISES_KEPT = 10_000
"""Estimates of jobs that have not started; the oldest of jobs that were cancelled go first."""


@dataclass(frozen=True)
class Standing:
    """A job's position from 1, and its wait if there is enough history."""

    position: int
    wait: WaitEstimate | None


class Forecast:
    """Forecasts from the queue, the machines, the runs under way and the times of the last runs."""

    def __init__(self, waiting: WaitingJobs, running: RunningJobs, inventory: Inventory, clock: Clock) -> None:
        self._waiting = waiting
        self._inventory = inventory
        self._clock = clock
        self._history = RunHistory()
        self._running = running
        self._promises: dict[str, WaitEstimate] = {}

    def remember(self, runs: Iterable[tuple[RunKind, timedelta]]) -> None:
        """Adds the times of runs that are over."""
        for kind, run_time in runs:
            self._history.remember(kind, run_time)

    def starts(self, job: Job) -> None:
        """Notes that a job has its machine. The first attempt shows if its wait was as it was told."""
        promised = self._promises.pop(job.job_id, None)
        if promised is not None and job.attempt == 1 and job.start_time is not None:
            waited = job.start_time - job.create_time
            within = "p50" if waited <= promised.p50 else "p90" if waited <= promised.p90 else "neither"
            metrics.wait_estimates.labels(within).inc()

    def standing(self, job: Job) -> Standing:
        """Position and wait of a job that waits, or is about to.

        There is no estimate for parts of a GPU, or several GPUs, that no machine can give, and for new machines.
        """
        position = self._waiting.ahead(job).position
        resources = job.spec.resources
        is_one_gpu = resources.is_plain and resources.gpus == 1
        if job.own_job_id or (
            not is_one_gpu and not self._inventory.suits(resources, job.spec.gpu_types, "", self._waiting)
        ):
            return Standing(position, None)
        ahead = self._waiting.jobs_ahead(job, PLAYED_AHEAD)
        times = [self._history.times(kind_of(other)) for other in ahead]
        beyond = position - 1 - len(times)
        wait = wait_estimate(
            times,
            self._slots(job.spec.gpu_types),
            job.job_id,
            beyond,
            self._history.all_times(),
            gpus=resources.gpus,
            gpus_ahead=[other.spec.resources.gpus for other in ahead],
        )
        if wait is not None and job.attempt == 1 and job.job_id not in self._promises:
            self._promises[job.job_id] = wait
            while len(self._promises) > _PROMISES_KEPT:
                del self._promises[next(iter(self._promises))]
        return Standing(position, wait)

    def next_end(self) -> timedelta:
        """Time until one of an account's jobs is likely to end."""
        times = self._history.all_times()
        return timedelta(seconds=percentile(times, 50)) if times else RETRY_WITHOUT_HISTORY

    def _slots(self, gpu_types: Collection[str]) -> Slots:
        now = self._clock.now()
        running = [job for job in self._running.jobs() if job.machine_gpu_type in gpu_types]
        known = [
            (_seconds_since(job.start_time, now), self._history.times(kind_of(job)))
            for job in running
            for _ in range(job.spec.resources.gpus)
        ]
        gpus, free = self._inventory.slots(gpu_types)
        starting = self._inventory.starting(gpu_types, now)
        # GPUs that somebody else uses, or that are given back just now, are taken for busy with a run of any kind.
        others = max(0, gpus - free - len(known) - len(starting))
        busy = [*known, *[(0.0, self._history.all_times())] * others]
        return Slots(free, busy, starting)


def _seconds_since(instant: datetime | None, now: datetime) -> float:
    return max(0.0, (now - instant).total_seconds()) if instant else 0.0
