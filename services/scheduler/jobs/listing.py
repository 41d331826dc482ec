"""Which jobs a list has, and where its pages begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from services.scheduler.jobs.job import JobState


@dataclass(frozen=True)
class JobFilter:
    """Empty fields select all."""

    account_id: str = ""
    states: frozenset[JobState] = frozenset()
    problem: str = ""


@dataclass(frozen=True)
class PageEnd:
    """The last job of a page: the next page begins after it."""

    create_time: datetime
    job_id: str
