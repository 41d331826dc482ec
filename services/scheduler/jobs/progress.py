"""What the end of a submission adds to its user's progress: a try of a problem, and a day with submissions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import NamedTuple

from services.scheduler.jobs.job import Job
from services.scheduler.jobs.states import JobState
from submissions.modes import MODES, PROFILED_MODES, Mode
from vocabulary.limits import DEFAULT_DTYPE
from vocabulary.verdicts import ACCEPTED

ALL_DTYPES = ""
"""Stands for all element types in what is counted."""


@dataclass(frozen=True)
class Attempted:
    """A try of a problem in an element type."""

    user_id: str
    problem: str
    dtype: str
    is_solved: bool


class SubmissionDay(NamedTuple):
    """A user, and the day of a submission in UTC, as `2026-11-29`."""

    user_id: str
    day: str


def attempted(job: Job) -> Attempted | None:
    """The try that a job was; None if it was none of a problem of the catalogue, or ended without a verdict.

    A full run that the catalogue's own definition accepted solves the problem, on whatever device.
    """
    submission = job.spec.submission
    mode = MODES.get(submission.mode)
    is_ours = submission.problem and not job.has_definition
    if job.state is not JobState.FINISHED or not job.user_id or not is_ours or mode not in PROFILED_MODES:
        return None
    is_solved = mode is Mode.FULL and job.verdict == ACCEPTED
    return Attempted(job.user_id, submission.problem, submission.dtype or DEFAULT_DTYPE, is_solved)


def submission_day(job: Job) -> SubmissionDay | None:
    """The day on which a job was submitted; None if it is no submission of a user that ended with a verdict."""
    if job.state is not JobState.FINISHED or not job.user_id or job.reservation:
        return None
    return SubmissionDay(job.user_id, job.create_time.astimezone(UTC).date().isoformat())
