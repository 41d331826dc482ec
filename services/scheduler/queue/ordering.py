"""Orders the waiting jobs of a queue, and queues among each other.

In a queue, the longest wait goes first, and an ordering says how much waiting a job is worth beyond its own: it goes as
if it had come that much earlier. All jobs age at the same pace, so the order of two jobs never changes while they wait.
That keeps the queue sorted without looking at it again, and no job waits for ever: one that comes later than the
largest head start goes behind.

Among queues, the one goes first that would have the smallest part of its fair share with one job more. That is the
order in which free GPUs are given to them if none of their jobs ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol

from services.scheduler.fairness.queue_tree import WHOLE_GPU_MILLI
from services.scheduler.jobs.job import Job
from submissions.modes import MODES
from vocabulary.slots import EIGHTHS_PER_GPU

CLASSIC_POINT = timedelta(minutes=6)
"""Ten points for each hour that a job waits."""
CLASSIC_POINTS_PER_GPU = 5
LARGEST_HEAD_START = timedelta(days=366)
"""More than any job waits; beyond it, the times that jobs are sorted by could leave the calendar."""


class Rank(NamedTuple):
    """Sort key of a job in its queue: a smaller one runs earlier."""

    turn_time: datetime
    """When it would have come if it had no head start."""
    create_time: datetime
    job_id: str


@dataclass(frozen=True, slots=True)
class JobFacts:
    """What orderings and placements know of a job. None of it changes while the job waits in a tree of queues."""

    job_id: str
    account_id: str
    user_id: str
    queue: str
    problem: str
    mode: str
    """`check`, `benchmark`, `full`, `sample` or `sandbox`."""
    gpu_type: str
    create_time: datetime
    priority: int = 0
    """-100 to 100."""
    job_class: str = ""
    class_value: int = 0
    """Points of its class, which the queue document gives."""
    gpus: float = 1
    """A number of whole GPUs, the least of a range, or a part of one in eighths."""
    time_limit: timedelta | None = None
    """The longest time of one attempt; None in jobs from before there were limits."""


class Ordering(Protocol):
    """How much waiting a job is worth beyond its own. It is asked once when the job comes, and when queues change."""

    def head_start(self, job: JobFacts) -> timedelta:
        """How much earlier it goes than by its age alone; negative: later. The same facts always give the same."""
        ...


class Age:
    """The ordering `age`: each point of priority, and of the job's class, is worth some waiting."""

    def __init__(self, waiting_per_point: timedelta) -> None:
        self._waiting_per_point = waiting_per_point

    def head_start(self, job: JobFacts) -> timedelta:
        """The worth of priority and class."""
        return (job.priority + job.class_value) * self._waiting_per_point


class Classic:
    """The ordering `classic`: points of the job's class, 10 for each hour that it waits, and 5 for each GPU.

    Points of priority count as in `age`.
    """

    def __init__(self, waiting_per_point: timedelta) -> None:
        self._waiting_per_point = waiting_per_point

    def head_start(self, job: JobFacts) -> timedelta:
        """The worth of priority, class and GPUs."""
        points = job.class_value + CLASSIC_POINTS_PER_GPU * job.gpus
        return job.priority * self._waiting_per_point + points * CLASSIC_POINT


class Claim(NamedTuple):
    """What a queue has, and its fair share, in thousandths of a GPU."""

    used: int = 0
    fair_share: int = WHOLE_GPU_MILLI

    def turn(self, earlier: int) -> float:
        """The turn of the job behind `earlier` ones of the queue: smaller turns come first."""
        return (self.used + (earlier + 1) * WHOLE_GPU_MILLI) / max(self.fair_share, WHOLE_GPU_MILLI)

    def earlier_than(self, turn: float, waiting: int) -> int:
        """Number of the queue's `waiting` jobs that come before that turn."""
        jobs = (turn * max(self.fair_share, WHOLE_GPU_MILLI) - self.used) / WHOLE_GPU_MILLI
        return min(waiting, max(0, math.ceil(jobs) - 1))


def facts_of(job: Job, class_value: int = 0) -> JobFacts:
    """What orderings and placements may know of the job."""
    spec = job.spec
    return JobFacts(
        job_id=job.job_id,
        account_id=job.account_id,
        user_id=job.user_id,
        queue=spec.queue,
        problem=spec.submission.problem,
        mode=MODES[spec.submission.mode].value if spec.submission.mode in MODES else "",
        gpu_type=spec.gpu_type,
        create_time=job.create_time,
        priority=spec.priority,
        job_class=spec.job_class,
        class_value=class_value,
        gpus=spec.resources.least.eighths / EIGHTHS_PER_GPU,
        time_limit=timedelta(seconds=spec.time_limit_seconds) if spec.time_limit_seconds else None,
    )


def rank_of(job: Job, head_start: timedelta) -> Rank:
    """The job's place in its queue: ties go by the time of submission, then by id.

    A reservation whose start has come goes first: its GPUs were promised. So does one that goes on with the time of one
    that was lost by our fault.
    """
    if job.is_dated or (job.reservation and job.reservation.instead_of):
        head_start = LARGEST_HEAD_START
    return Rank(job.create_time - head_start, job.create_time, job.job_id)


def ranked_by(ordering: Ordering) -> Callable[[Job], Rank]:
    """Ranks jobs by one ordering, without classes."""
    return lambda job: rank_of(job, ordering.head_start(facts_of(job)))
