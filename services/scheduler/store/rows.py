"""Converts jobs and events to rows and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping
from wavepool.submission.v1.submission_pb2 import Submission

from servicekit.db.database import MICROSECOND
from services.scheduler.jobs.ended_attempt import EndedAttempt
from services.scheduler.jobs.job import Job, JobEvent
from services.scheduler.jobs.listing import listed
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.resources import Isolation, Resources, Reuse
from services.scheduler.jobs.spec import JobSpec, Lease
from services.scheduler.jobs.states import JobState
from services.scheduler.jobs.timing import ProvenTime
from submissions.visibility import Visibility

_SPEC_COLUMNS = tuple(field.name for field in fields(JobSpec) if field.name not in {"submission", "resources"})
# The lease's machine is the job's own column: it outlives the lease.
_LEASE_COLUMNS = tuple(field.name for field in fields(Lease) if field.name != "machine_id")
_ATTEMPT_TIMES = ("wait", "run", "useful_gpu_time", "leased_gpu_time")
_ATTEMPT_COLUMNS = tuple(field.name for field in fields(EndedAttempt) if field.name not in _ATTEMPT_TIMES)
_LISTED_FROM = frozenset({"state", "machine_gpu_type", "machine_device"})
_JOB_COLUMNS = tuple(field.name for field in fields(Job) if field.name not in {"spec", "lease"})


def job_to_row(job: Job) -> dict[str, Any]:
    """The row of a job, with every column."""
    row: dict[str, Any] = {name: getattr(job, name) for name in _JOB_COLUMNS}
    row |= {name: getattr(job.spec, name) for name in _SPEC_COLUMNS}
    resources = job.spec.resources
    row |= {
        "wanted_eighths": resources.eighths,
        "isolation": resources.isolation,
        "wanted_devices": resources.devices,
        "least_eighths": resources.least_eighths,
    }
    submission = job.spec.submission
    row |= {"submission": submission.SerializeToString(), "problem": submission.problem}
    row |= {"mode": submission.mode, "dtype": submission.dtype, **asdict(listed(job))}
    row |= {name: getattr(job.lease, name, None) for name in _LEASE_COLUMNS}
    return row | {"reservation_state": reservation_state(job)}


def reservation_state(job: Job) -> ReservationState | None:
    """The state of a reservation; None for a submission."""
    return job.reservation_state if job.reservation else None


def changed_columns(before: Job, after: Job) -> dict[str, Any]:
    """The columns that a move changes, with their new values; no move changes the spec."""
    old = vars(before)
    changed = {name: value for name, value in vars(after).items() if value is not old[name] and value != old[name]}
    if "lease" in changed:
        lease = changed.pop("lease")
        changed |= {name: getattr(lease, name, None) for name in _LEASE_COLUMNS}
    if not _LISTED_FROM.isdisjoint(changed):
        old_listed, new_listed = vars(listed(before)), vars(listed(after))
        changed |= {name: value for name, value in new_listed.items() if value != old_listed[name]}
    return changed


def job_from_row(row: RowMapping) -> Job:
    """The job of a row that has every column of `jobs`."""
    columns: dict[str, Any] = dict(row)
    job: dict[str, Any] = {name: columns[name] for name in _JOB_COLUMNS}
    job["state"] = JobState(columns["state"])
    job["ending"] = JobState(columns["ending"]) if columns["ending"] else None
    job["result"] = bytes(columns["result"])
    job["visibility"] = Visibility(columns["visibility"])
    spec: dict[str, Any] = {name: columns[name] for name in _SPEC_COLUMNS}
    spec["submission"] = Submission.FromString(bytes(columns["submission"]))
    isolation = Isolation(columns["isolation"])
    spec["resources"] = Resources(
        columns["wanted_eighths"], isolation, columns["wanted_devices"], columns["least_eighths"]
    )
    spec["reuse"] = Reuse(columns["reuse"])
    lease = None
    if columns["lease_id"] is not None:
        lease = Lease(machine_id=columns["machine_id"], **{name: columns[name] for name in _LEASE_COLUMNS})
    return Job(spec=JobSpec(**spec), lease=lease, **job)


def event_to_row(event: JobEvent) -> dict[str, Any]:
    """The row of an event, with every column."""
    return {field.name: getattr(event, field.name) for field in fields(JobEvent)}


def time_to_row(time: ProvenTime) -> dict[str, Any]:
    """The row of a time that ranks."""
    row = {field.name: getattr(time, field.name) for field in fields(ProvenTime) if field.name != "key"}
    return row | asdict(time.key)


def attempt_to_row(attempt: EndedAttempt) -> dict[str, Any]:
    """The row of an attempt that is over."""
    row: dict[str, Any] = {name: getattr(attempt, name) for name in _ATTEMPT_COLUMNS}
    return row | {f"{name}_us": _micros(getattr(attempt, name)) for name in _ATTEMPT_TIMES}


def event_from_row(row: RowMapping) -> JobEvent:
    """The event of a row."""
    columns: dict[str, Any] = dict(row)
    columns["payload"] = bytes(columns["payload"])
    return JobEvent(**columns)


def _micros(time: timedelta | None) -> int | None:
    return None if time is None else time // MICROSECOND
