"""Which times count in a ranking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import inf

from wavepool.executor.v1.run_event_pb2 import TIMING_UNSTABLE, TIMING_VALID, Benchmarked, Finished

from services.scheduler.jobs.hardware import CPU, hardware_of
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import JobState
from submissions.modes import MODES, Mode, TimingMode
from vocabulary.intervals import interval_of_mean
from vocabulary.slots import EIGHTHS_PER_GPU
from vocabulary.verdicts import ACCEPTED


@dataclass(frozen=True)
class RankingKey:
    """Times compare only with times of the same key. `hardware` is a GPU type, or `cpu` for the cpu device."""

    problem: str
    hardware: str
    dtype: str
    timing_mode: str


@dataclass(frozen=True)
class ProvenTime:
    """A job's time that counts: the geometric mean over its cases, in nanoseconds."""

    job_id: str
    user_id: str
    key: RankingKey
    runtime_ns: float
    interval: float
    """Half the width of the interval of the time, over the time; 0 if it is not known."""
    gflops: float
    end_time: datetime


def proven_time(job: Job) -> ProvenTime | None:
    """The time that an ended job adds to a ranking; None if it adds none.

    It counts if the catalogue's own definition accepted the submission in a full run, and the time is proven and was
    measured on hardware: on one whole GPU.
    """
    is_full = MODES.get(job.spec.submission.mode) is Mode.FULL and not job.has_definition
    is_full = is_full and job.eighths == EIGHTHS_PER_GPU
    if job.state is not JobState.FINISHED or job.verdict != ACCEPTED or not is_full or job.end_time is None:
        return None
    timed = Finished.FromString(job.result).benchmarked
    if not is_proven(timed) or not 0 < timed.mean_runtime_ns < inf or not job.user_id:
        return None
    interval = interval_of_mean(timed.results)
    return ProvenTime(
        job.job_id, job.user_id, key_of(job, timed), timed.mean_runtime_ns, interval, timed.mean_gflops, job.end_time
    )


def is_proven(timed: Benchmarked) -> bool:
    """True if the time is VALID and was measured on hardware.

    An UNSTABLE time of `cpu` with an interval to show counts among those of `cpu`, which rank beside no other.
    """
    is_wide = timed.timing == TIMING_UNSTABLE and timed.device == CPU and timed.shown_interval > 0
    return (timed.timing == TIMING_VALID or is_wide) and not timed.unproven_because and not timed.simulated


def has_times(timed: Benchmarked) -> bool:
    """True if some case has a time."""
    return any(result.runtime_ns > 0 for result in timed.results)


def key_of(job: Job, timed: Benchmarked) -> RankingKey:
    """The key of a job's times."""
    submission = job.spec.submission
    hardware = hardware_of(timed.device, job.machine_gpu_type)
    return RankingKey(submission.problem, hardware, submission.dtype, timed.timing_mode)


def default_timing_mode(hardware: str) -> TimingMode:
    """How calls are timed on this hardware if a submission does not say."""
    return TimingMode.HOT if hardware == CPU else TimingMode.COLD
