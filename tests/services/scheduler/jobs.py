"""Jobs in various states, for tests."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from wavepool.submission.v1.submission_pb2 import RUN_MODE_CHECK, Submission

from services.scheduler.jobs.job import Job, Outcome
from services.scheduler.jobs.spec import JobSpec, Lease
from services.scheduler.jobs.states import JobState
from tests.job_specs import SUBMISSION_FIELDS
from vocabulary.slots import Slot

START = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = Lease(
    lease_id="lease-1",
    machine_id="machine-1",
    executor_endpoint="127.0.0.1:1",
    executor_token="token",  # noqa: S106 - opens nothing
    fencing_token=1,
    expire_time=START + timedelta(seconds=30),
    slots=(Slot(1, 0, 8),),
)
ACCEPTED = Outcome(JobState.FINISHED, "ACCEPTED", "all passed", b"\x08\x01", 500)


def a_job(number: int = 1, *, age_seconds: float = 0, **changes: Any) -> Job:
    asked: dict[str, Any] = {"problem": "leaky-relu", "mode": RUN_MODE_CHECK, "dtype": "float32", "language": "hip"}
    asked |= {name: changes.pop(name) for name in SUBMISSION_FIELDS & set(changes)}
    named = ("gpu_type", "fallback_gpu_types", "priority", "resources", "queue")
    spec_fields = {name: changes.pop(name) for name in named if name in changes}
    spec = JobSpec(Submission(**asked), "MI300X")
    job = Job(
        job_id=f"job-{number:03d}",
        account_id="account-1",
        idempotency_key=f"key-{number}",
        fingerprint="fingerprint",
        spec=replace(spec, **spec_fields),
        state=JobState.RESERVING,
        create_time=START - timedelta(seconds=age_seconds),
        price_micros_per_hour=1_990_000,
        hold_micros=1_000_000,
    )
    return replace(job, **changes)


def a_queued_job(number: int = 1, *, age_seconds: float = 0, **changes: Any) -> Job:
    return a_job(number, age_seconds=age_seconds, **changes).enqueue("hold-1")
