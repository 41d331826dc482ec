"""Ended jobs with times, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from wavepool.executor.v1 import run_event_pb2
from wavepool.submission.v1.submission_pb2 import RUN_MODE_FULL

from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.states import JobState
from services.scheduler.store.job_store import JobStore
from tests.services.scheduler.jobs import LEASE, START, a_job

VALID = run_event_pb2.TIMING_VALID


def case(name: str, runtime_ns: float, spread: float = 0.005, sessions: Sequence[float] = ()) -> Any:
    """A case whose interval is `spread` wide to each side, relative to its time."""
    return run_event_pb2.BenchmarkResult(
        name=name,
        runtime_ns=runtime_ns,
        ci_low_ns=runtime_ns * (1 - spread),
        ci_high_ns=runtime_ns * (1 + spread),
        session_median_ns=sessions,
        timing=VALID,
    )


def timed_job(number: int = 1, cases: Mapping[str, float] | Sequence[Any] = (), **changes: Any) -> Job:
    """A job that ended with these times; `verdict`, `minutes` (of its end) and fields of Benchmarked may be given."""
    results = [case(name, ns) for name, ns in cases.items()] if isinstance(cases, dict) else list(cases)
    timed: dict[str, Any] = {"timing": VALID, "device": "rocm", "timing_mode": "cold", "mean_runtime_ns": 1000.0}
    timed |= {
        name: changes.pop(name)
        for name in (*timed, "simulated", "mean_gflops", "shown_interval", "unproven_because")
        if name in changes
    }
    verdict = changes.pop("verdict", "ACCEPTED")
    end = START + timedelta(minutes=changes.pop("minutes", 0))
    gpu_type = changes.pop("machine_gpu_type", "MI300X")
    result = run_event_pb2.Finished(benchmarked=run_event_pb2.Benchmarked(results=results, **timed))
    outcome = Outcome(JobState.FINISHED, verdict, "", result.SerializeToString(), 0)
    fields: dict[str, Any] = {"mode": RUN_MODE_FULL, "user_id": "ada", **changes}
    job = a_job(number, **fields).enqueue("hold-1")
    started = job.start(LEASE, START, gpu_type, machine_device=timed["device"])
    return replace(started.settle(outcome).finish(0, end), last_seq=0)


async def ended(store: JobStore, number: int, **changes: Any) -> Job:
    """Brings a job to the end that `timed_job` gives it."""
    over = timed_job(number, **changes)
    first = replace(over, state=JobState.SETTLING, end_time=None)
    inserted = (await store.insert(first, SubmissionLimits(1000))).job
    assert inserted is not None
    return await store.move(inserted, replace(over, spec=inserted.spec), [b"ended"], START)
