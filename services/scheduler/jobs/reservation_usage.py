"""GPU time of reservations, by day, account, user and GPU type; and the limits of a user; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from services.scheduler.jobs.job import Job

WEEK = timedelta(days=7)
_NOTHING = timedelta(0)


class UsageKey(NamedTuple):
    """Whose use it is, and when: a day of UTC."""

    day: datetime
    account_id: str
    user_id: str
    gpu_type: str


@dataclass
class Usage:
    """GPU time, where two GPUs for an hour are two hours, and the number of reservations that had some of it."""

    gpu_time: timedelta = _NOTHING
    reservations: int = 0


@dataclass(frozen=True)
class UserLimits:
    """What a user may have reserved: GPUs at a time, and GPU time in any week; 0 and no time: no limit."""

    gpus: int
    gpu_time_per_week: timedelta


def usage_of(jobs: Iterable[Job], begin: datetime, end: datetime, now: datetime) -> Mapping[UsageKey, Usage]:
    """The use in [begin, end), by day; what goes on counts until now."""
    found: defaultdict[UsageKey, Usage] = defaultdict(Usage)
    for job in jobs:
        first, last = _interval(job, now)
        first, last = max(first, begin), min(last, end)
        while first < last:
            day = first.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
            until = min(last, day + timedelta(days=1))
            gpu_type = job.machine_gpu_type or job.spec.gpu_type
            used = found[UsageKey(day, job.account_id, job.user_id, gpu_type)]
            used.gpu_time += (until - first) * job.spec.gpus_in_all
            used.reservations += 1
            first = until
    return found


def above_limits(asked: Job, others: Iterable[Job], limits: UserLimits, now: datetime) -> str:
    """Why a user may not reserve this beside the others of the last week, with what is possible; else empty."""
    gpus, week, reserved = asked.spec.gpus_in_all, _NOTHING, 0
    for job in others:
        first, last = _interval(job, now)
        week += max(_NOTHING, last - max(first, now - WEEK)) * job.spec.gpus_in_all
        if job.end_time is None:
            reserved += job.spec.gpus_in_all
            week += (job.reserved.total - job.reserved.used(now)) * job.spec.gpus_in_all
    if limits.gpus and reserved + gpus > limits.gpus:
        left = max(0, limits.gpus - reserved)
        return f"you have {reserved} GPUs reserved, of {limits.gpus} that each user may have; {left} more are possible"
    most, wanted = limits.gpu_time_per_week, asked.reserved.duration * gpus
    if most and week + wanted > most:
        left = max(_NOTHING, most - week)
        return (
            f"{_hours(wanted)} GPU hours are more than are left of the {_hours(most)} that each user may have in a "
            f"week: {_hours(left)}, with what is reserved now"
        )
    return ""


def _interval(job: Job, now: datetime) -> tuple[datetime, datetime]:
    """The time that is paid for; an empty one if nobody could log in."""
    active = job.reserved.active_time
    if active is None:
        return now, now
    return active, active + job.reserved.used(min(now, job.cancel_time or now, job.end_time or now))


def _hours(time: timedelta) -> str:
    return f"{time / timedelta(hours=1):.4g}"
