"""What there is of a GPU type, for people who want to reserve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from services.scheduler.jobs.estimate import WaitEstimate
from services.scheduler.jobs.job import Job


@dataclass(frozen=True)
class QueueHead:
    """What is the first in line for a GPU type. The reason is for everybody: it names no job, user or machine."""

    gpus: int
    create_time: datetime
    reason: str
    eighths: int = 0
    """The part of a GPU that it takes; 0 if it takes whole ones."""


@dataclass(frozen=True)
class Availability:
    """What there is of a GPU type. `waits` has the wait of each number of GPUs that one machine can have."""

    gpu_type: str
    total_gpus: int
    free_gpus: int
    largest_free: int
    reserved_gpus: int
    queue_length: int
    price_micros_per_hour: int
    waits: Mapping[int, WaitEstimate | None]
    startable_gpus: int = 0
    """Those of machines that the pool may still start, beside the ones that there are."""
    next_dated_time: datetime | None = None
    """When the next reservation that starts later starts."""
    next_dated_gpus: int = 0
    """GPUs of those that start then."""
    maintenance: str = ""
    """Why nobody, or only some, may reserve it now; empty if anybody may."""
    queue_head: QueueHead | None = None
    """What is the first in line; None if nothing waits."""


@dataclass(frozen=True)
class CalendarEntry:
    """A reservation that has GPUs, or is to have them, from `begin` until just before `end`."""

    job: Job
    begin: datetime
    end: datetime
    machine_ids: tuple[str, ...]
    """Empty if some machine has yet to be started."""
    is_late: bool = False
    """True if there will be no GPUs for it at its begin, as far as is known now."""
