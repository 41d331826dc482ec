"""What waits, runs and has ended, by queue and GPU type; and the readings for alerts about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from services.scheduler.jobs.estimate import percentile
from vocabulary import readings
from vocabulary.readings import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LEAST_ENDED = 5
"""Shares of fewer jobs are taken as shares of this number: one failed job of one is no failure of everything."""

Place = tuple[str, str]
"""A queue and a GPU type."""


class WaitingJob(NamedTuple):
    """A job that waits; `stuck_because` says why nothing can be started for it, and is empty if it will be served."""

    place: Place
    waited_seconds: float
    stuck_because: str = ""


@dataclass(frozen=True)
class EndCounts:
    """What ended in the window, of one queue and GPU type."""

    place: Place
    jobs: int
    failed: int
    lost_attempts: int


@dataclass(frozen=True)
class QueueState:
    """One queue and GPU type: the jobs that wait and run now, and what ended in the window."""

    queue: str
    gpu_type: str
    waiting: int
    running: int
    oldest_wait_seconds: float
    p90_wait_seconds: float
    stuck: int
    stuck_because: str
    ended: int
    failed: int
    lost_attempts: int

    @property
    def failed_share(self) -> float:
        """Share of the ended jobs that failed by our fault, of LEAST_ENDED jobs at least."""
        return self.failed / max(self.ended, LEAST_ENDED)


def queue_states(
    waiting: Iterable[WaitingJob], running: Iterable[Place], ended: Iterable[EndCounts]
) -> list[QueueState]:
    """The state of every queue and GPU type that has any jobs, in the order of their names."""
    waiters: dict[Place, list[WaitingJob]] = {}
    for job in waiting:
        waiters.setdefault(job.place, []).append(job)
    runs: dict[Place, int] = {}
    for place in running:
        runs[place] = runs.get(place, 0) + 1
    ends = {one.place: one for one in ended}
    return [
        _state(place, waiters.get(place, ()), runs.get(place, 0), ends.get(place, EndCounts(place, 0, 0, 0)))
        for place in sorted(waiters.keys() | runs.keys() | ends.keys())
    ]


def queue_readings(states: Iterable[QueueState], slowdowns: Mapping[str, float]) -> list[Reading]:
    """The readings of all queues, and how many times as long as before runs take on each GPU type."""
    found: list[Reading] = []
    for state in states:
        labels = {"queue": state.queue, "gpu_type": state.gpu_type}
        details = {
            "failed": str(state.failed),
            "ended": str(state.ended),
            "waiting": str(state.waiting),
            "reason": "".join(filter(str.isprintable, state.stuck_because))[:200],
            "percent": f"{state.failed_share:.0%}",
            "minutes": f"{state.oldest_wait_seconds / 60:.0f}",
        }
        for name, value in (
            (readings.FAILED_JOBS, state.failed_share),
            (readings.LOST_ATTEMPTS, state.lost_attempts),
            (readings.OLDEST_WAIT, state.oldest_wait_seconds),
            (readings.P90_WAIT, state.p90_wait_seconds),
            (readings.STUCK_JOBS, state.stuck),
        ):
            found.append(Reading(name, float(value), labels, details))
    for gpu_type, factor in sorted(slowdowns.items()):
        found.append(Reading(readings.RUN_SLOWDOWN, factor, {"gpu_type": gpu_type}, {"times": f"{factor:.1f}"}))
    return found


def _state(place: Place, waiting: Sequence[WaitingJob], running: int, ended: EndCounts) -> QueueState:
    waits = [max(0.0, job.waited_seconds) for job in waiting]
    stuck = [job.stuck_because for job in waiting if job.stuck_because]
    queue, gpu_type = place
    return QueueState(
        queue=queue,
        gpu_type=gpu_type,
        waiting=len(waiting),
        running=running,
        oldest_wait_seconds=max(waits, default=0.0),
        p90_wait_seconds=percentile(waits, 90) if waits else 0.0,
        stuck=len(stuck),
        stuck_because=stuck[0] if stuck else "",
        ended=ended.jobs,
        failed=ended.failed,
        lost_attempts=ended.lost_attempts,
    )
