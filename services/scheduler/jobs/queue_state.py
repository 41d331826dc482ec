"""What waits, runs and has ended, by queue and GPU type; and the readings for alerts about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import OVER_STATES
from vocabulary import readings
from vocabulary.readings import Reading

LEAST_ENDED = 5
"""Shares of fewer jobs are taken as shares of this number: one failed job of one is no failure of everything."""

_SOON = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)

Place = tuple[str, str]
"""A queue and a GPU type."""


class Waiters(NamedTuple):
    """The jobs of a queue and GPU type that wait."""

    since: Sequence[datetime]
    """When each began to wait, the earliest first."""
    stuck: int = 0
    """The number of them that nothing can be started for."""
    stuck_because: str = ""
    """Why, for one of them; empty if there is none."""


@dataclass(frozen=True)
class EndCounts:
    """What ended in the window, of one queue and GPU type."""

    place: Place
    jobs: int
    failed: int
    lost_attempts: int


class QueueState(NamedTuple):
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
    waiting: Mapping[Place, Waiters], running: Iterable[Place], ended: Iterable[EndCounts], now: datetime
) -> list[QueueState]:
    """The state of every queue and GPU type that has any jobs, in the order of their names."""
    runs = Counter(running)
    ends = {one.place: one for one in ended}
    return [
        _state(place, waiting.get(place), runs[place], ends.get(place, EndCounts(place, 0, 0, 0)), now)
        for place in sorted(waiting.keys() | runs.keys() | ends.keys())
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


def reservation_readings(jobs: Iterable[Job], now: datetime) -> list[Reading]:
    """The time that is left to each reservation that ends within the hour; of those that are not active yet, none."""
    found: list[Reading] = []
    for job in jobs:
        end = job.reservation.expire_time if job.reservation and not job.reservation.is_expiring else None
        if end is None or end - now > _SOON:
            continue
        minutes = max(0.0, (end - now) / _MINUTE)
        labels = {"account": job.account_id, "reservation": job.job_id}
        details = {"name": job.reserved.name, "minutes": f"{minutes:.0f}"}
        most = job.reserved.most_left
        crossed = [name for least, name in readings.RESERVATION_WARNINGS.items() if most > least * _MINUTE]
        found += [Reading(name, minutes, labels, details) for name in crossed]
    return found


def reservation_counts(jobs: Iterable[Job]) -> Counter[tuple[str, ReservationState]]:
    """How many reservations there are of each GPU type and state, without those that are over.

    The type is the machine's, or else the wanted one. A job may come twice, and counts once.
    """
    reservations = {job.job_id: job for job in jobs if job.reservation and job.state not in OVER_STATES}
    return Counter((job.machine_gpu_type or job.spec.gpu_type, job.reservation_state) for job in reservations.values())


def _state(place: Place, waiters: Waiters | None, running: int, ended: EndCounts, now: datetime) -> QueueState:
    since = waiters.since if waiters else ()
    queue, gpu_type = place
    return QueueState(
        queue=queue,
        gpu_type=gpu_type,
        waiting=len(since),
        running=running,
        oldest_wait_seconds=_waited(since, 1, now),
        # By nearest rank: a tenth of them, rounded down, wait longer.
        p90_wait_seconds=_waited(since, len(since) // 10 + 1, now),
        stuck=waiters.stuck if waiters else 0,
        stuck_because=waiters.stuck_because if waiters else "",
        ended=ended.jobs,
        failed=ended.failed,
        lost_attempts=ended.lost_attempts,
    )


def _waited(since: Sequence[datetime], rank: int, now: datetime) -> float:
    """Seconds that the one with the `rank`th longest wait has waited, from 1; 0 if there are none."""
    return max(0.0, (now - since[rank - 1]).total_seconds()) if since else 0.0
