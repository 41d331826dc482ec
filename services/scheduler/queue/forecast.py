"""Forecasts a job's place in the queue and its wait."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from services.scheduler.jobs.estimate import WaitEstimate, percentile, wait_estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.scheduler.jobs.job import Job
    from services.scheduler.queue.inventory import Inventory
    from services.scheduler.queue.waiting import WaitingJobs

# Only recent runs say how long the present mix of jobs takes.
RUNS_REMEMBERED = 200
RETRY_WITHOUT_HISTORY = timedelta(seconds=5)


@dataclass(frozen=True)
class Standing:
    """A job's position from 1, and its wait if there is enough history."""

    position: int
    wait: WaitEstimate | None


class Forecast:
    """Forecasts from the queue, the machines and the times of the last runs."""

    def __init__(self, waiting: WaitingJobs, inventory: Inventory) -> None:
        self._waiting = waiting
        self._inventory = inventory
        self._run_times: deque[timedelta] = deque(maxlen=RUNS_REMEMBERED)

    def remember(self, run_times: Iterable[timedelta]) -> None:
        """Adds the times of runs that are over."""
        self._run_times.extend(run_times)

    def standing(self, job: Job) -> Standing:
        """Position and wait of a job that waits, or is about to."""
        position = self._waiting.position(job)
        slots, free_slots = self._inventory.slots(job.spec.gpu_types)
        return Standing(position, wait_estimate(position, slots, free_slots, self._run_times))

    def next_end(self) -> timedelta:
        """Time until one of an account's jobs is likely to end."""
        return percentile(self._run_times, 50) if self._run_times else RETRY_WITHOUT_HISTORY
