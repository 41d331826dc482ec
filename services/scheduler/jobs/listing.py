"""Lists of jobs: the filter, what they are filtered and ordered by, and the position at which the next page begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import inf

from wavepool.executor.v1.run_event_pb2 import Finished

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import OVER_STATES, JobState
from services.scheduler.jobs.timing import RankingKey, has_times, is_proven, key_of
from submissions.modes import MODES
from submissions.visibility import Visibility
from vocabulary.verdicts import final_status

NANOSECONDS = 1e9
PROVEN, UNPROVEN, UNTIMED = 2, 1, 0
"""How far the time of a job is to be believed, in the order of lists: the higher, the earlier."""


@dataclass(frozen=True)
class JobFilter:
    """Filter for a list; an empty field selects all jobs."""

    account_ids: tuple[str, ...] = ()
    states: frozenset[JobState] = frozenset()
    problem: str = ""
    user_id: str = ""
    verdicts: frozenset[str] = frozenset()
    """Names without their prefix; of jobs that are over."""
    modes: frozenset[int] = frozenset()
    queue: str = ""
    begin: datetime | None = None
    end: datetime | None = None
    """Selects by the time of submission; the end is not included."""
    reservations: bool = False
    """Lists reservations, or else submissions."""
    reservation_states: frozenset[ReservationState] = frozenset()
    statuses: frozenset[str] = frozenset()
    """Of the last event; of jobs that are over."""
    gpu_type: str = ""
    """That a job ran on, or else wants; `cpu` for the cpu device."""
    dtype: str = ""
    timed_as: RankingKey | None = None
    """Only jobs with times of this key, but for `other_than`."""
    other_than: str = ""
    fastest: bool = False
    """Orders by speed: proven times, then others, then jobs without one. Else newest first."""
    visibility: Visibility | None = None


@dataclass(frozen=True)
class PageEnd:
    """The last job of a page: the next page begins after it."""

    create_time: datetime
    job_id: str
    proof: int = UNTIMED
    calls_per_second: float = 0.0


@dataclass(frozen=True)
class Listed:
    """What lists need to know of a job, and what follows from its other fields."""

    ran_on: str
    """The hardware that it got, or else the GPU type that it wants."""
    status: str = ""
    """Of its last event; empty before."""
    hardware: str = ""
    """With `timing_mode`, problem and element type the key of its times; empty if it has none."""
    timing_mode: str = ""
    proof: int = UNTIMED
    calls_per_second: float = 0.0
    """The inverse of the mean over its cases; 0 without one."""


def listed(job: Job) -> Listed:
    """What lists need to know of a job."""
    ran_on = job.hardware or job.spec.gpu_type
    if job.state not in OVER_STATES or job.reservation is not None:
        return Listed(ran_on)
    status = final_status(job.state.name, job.verdict, MODES.get(job.spec.submission.mode) or "")
    timed = Finished.FromString(job.result).benchmarked
    if not has_times(timed):
        return Listed(ran_on, status)
    key, mean = key_of(job, timed), timed.mean_runtime_ns
    if not 0 < mean < inf:
        return Listed(ran_on, status, key.hardware, key.timing_mode)
    proof = PROVEN if is_proven(timed) else UNPROVEN
    return Listed(ran_on, status, key.hardware, key.timing_mode, proof, NANOSECONDS / mean)


def page_end_of(job: Job, wanted: JobFilter) -> PageEnd:
    """The position after a job."""
    if not wanted.fastest:
        return PageEnd(job.create_time, job.job_id)
    of_list = listed(job)
    return PageEnd(job.create_time, job.job_id, of_list.proof, of_list.calls_per_second)
