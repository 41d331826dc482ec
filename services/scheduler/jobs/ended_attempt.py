"""The figures of an attempt that is over: what it waited for, how long it ran, and how much of its time was of use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from wavepool.executor.v1.run_event_pb2 import Finished

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import OVER_STATES, JobState
from submissions.modes import MODES
from vocabulary.slots import EIGHTHS_PER_GPU


@dataclass(frozen=True)
class EndedAttempt:
    """An attempt that is over, with or without its job.

    `wait` is the time from the submission until the machine, None after the first attempt and for a job that never had
    one. `run` is the time with the machine. Both GPU times count a half GPU for 2 s as 1 s; `useful_gpu_time` is the
    part of `leased_gpu_time` in which a run came to a verdict about the submission.
    """

    job_id: str
    attempt: int
    account_id: str
    user_id: str
    problem: str
    mode: str
    queue: str
    machine_id: str
    gpu_type: str
    state: str
    """The job's final state; empty if the job goes on with another attempt."""
    verdict: str
    lost: bool
    """True if the attempt had a machine and ended by our fault."""
    end_time: datetime
    wait: timedelta | None
    run: timedelta | None
    useful_gpu_time: timedelta
    leased_gpu_time: timedelta
    gflops: float | None
    """Mean arithmetic rate of its benchmark; None without one."""


def ended_attempt(before: Job, after: Job, now: datetime) -> EndedAttempt | None:
    """The attempt that a move from `before` to `after` ends; None if it goes on."""
    if after.state in OVER_STATES:
        return _figures(before, now, state=after.state.value, lost=after.state is JobState.FAILED)
    if before.state is JobState.RUNNING and after.state is JobState.QUEUED:
        # An excused attempt was stopped by somebody: its GPU time was of no use, but nothing is at fault.
        return _figures(before, now, state="", lost=after.attempts_excused == before.attempts_excused)
    return None


def _figures(job: Job, now: datetime, *, state: str, lost: bool) -> EndedAttempt:
    """The figures of a job's present attempt. The job is as it was before the end, when it still had its lease."""
    run = max(timedelta(0), now - job.start_time) if job.start_time else None
    eighths = sum(lease.eighths for lease in job.leases) or EIGHTHS_PER_GPU
    leased = (run or timedelta(0)) * eighths / EIGHTHS_PER_GPU
    finished = Finished.FromString(job.result) if state == JobState.FINISHED else Finished()
    useful = finished.billable.ToTimedelta() * eighths / EIGHTHS_PER_GPU
    gflops = finished.benchmarked.mean_gflops
    return EndedAttempt(
        job_id=job.job_id,
        attempt=job.attempt,
        account_id=job.account_id,
        user_id=job.user_id,
        problem=job.spec.submission.problem,
        mode="reservation" if job.reservation else MODES.get(job.spec.submission.mode) or "",
        queue=job.spec.queue,
        machine_id=job.machine_id,
        gpu_type=job.machine_gpu_type or job.spec.gpu_type,
        state=state,
        verdict=job.verdict,
        lost=lost and run is not None,
        end_time=now,
        wait=max(timedelta(0), job.start_time - job.create_time) if job.start_time and job.attempt == 1 else None,
        run=run,
        useful_gpu_time=max(timedelta(0), min(useful, leased)),
        leased_gpu_time=leased,
        gflops=gflops if gflops > 0 and gflops != float("inf") else None,
    )
