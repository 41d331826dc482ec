"""The scheduler's settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path  # noqa: TC003 - pydantic resolves the annotation at run time
from typing import Annotated

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings
from vocabulary.limits import LONGEST_RUN
from vocabulary.ports import USUAL_PORTS, usual_target


class SchedulerSettings(ServiceSettings):
    """Read from `SCHEDULER_*`; durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="SCHEDULER_", populate_by_name=True)

    port: int = USUAL_PORTS["scheduler"]
    vmpool_target: str = usual_target("vmpool")
    billing_target: str = usual_target("billing")
    problems_dir: Path | None = None
    """The catalogue's folder; unset: the one that Wavepool comes with."""
    max_jobs_in_flight: Annotated[int, Field(ge=1)] = 20
    """Of one account."""
    max_attempts: Annotated[int, Field(ge=1)] = 3
    """Of one job, before it fails."""
    waiting_per_priority_point: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(seconds=9)
    """How much waiting one point of priority is worth; 0: priorities count for nothing.

    With 9 seconds, priority 100 goes before jobs that came up to 15 minutes earlier: as long as the longest run, so at
    the worst an urgent job costs a waiting one what a run ahead of it may cost. Nothing that comes 30 minutes later
    (from -100 to 100) goes before a job, whatever the priorities.
    """
    lease_duration: timedelta = timedelta(seconds=30)
    """How long a machine stays ours when we fall silent; renewed every third of it."""
    longest_run: timedelta = LONGEST_RUN
    """Of one attempt: what a job is put on hold for. Executors are told, and end runs by themselves then."""
    overrun_grace: timedelta = timedelta(minutes=1)
    """After the longest run, a run that has not ended is given up."""
    reattach_window: timedelta = timedelta(seconds=10)
    """How long an executor may be out of reach before its run is given up."""
    cancel_grace: timedelta = timedelta(seconds=10)
    """How long an executor may take to end a cancelled run."""
    submission_timeout: timedelta = timedelta(seconds=30)
    """After which a submission that is not in the queue counts as dead."""
    sweep_interval: timedelta = timedelta(seconds=5)
    """Between two passes of the rescuer."""
    poll_interval: timedelta = timedelta(seconds=1)
    """Between two looks for events that another process wrote, and for machines that nobody reported."""
