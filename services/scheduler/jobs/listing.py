"""The filter of a list of jobs, and the position at which its next page begins."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from services.scheduler.jobs.states import JobState


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


@dataclass(frozen=True)
class PageEnd:
    """The last job of a page: the next page begins after it."""

    create_time: datetime
    job_id: str
