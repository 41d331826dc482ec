"""The scheduler's settings."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator
from pydantic_settings import SettingsConfigDict

from servicekit.settings.amounts import mib_setting
from servicekit.settings.config import LEADER_TERM, LeaderTerm, ServiceSettings
from services.scheduler.jobs.reservation import GRACE, LONGEST_PREPARING
from services.scheduler.jobs.reservation_checks import Maintenance
from vocabulary.limits import LONGEST_RUN
from vocabulary.ports import USUAL_PORTS, usual_target

MOST_REASON = 300


class SchedulerSettings(ServiceSettings):
    """Settings from `SCHEDULER_*` variables; durations are seconds or ISO 8601."""

    model_config = SettingsConfigDict(env_prefix="SCHEDULER_", populate_by_name=True)

    port: int = USUAL_PORTS["scheduler"]
    vmpool_target: str = usual_target("vmpool")
    billing_target: str = usual_target("billing")
    problems_dir: Path | None = None
    """Folder of the catalogue; the one that comes with Wavepool if unset."""
    max_jobs_in_flight: Annotated[int, Field(ge=1)] = 20
    """Limit for each account."""
    max_submissions_per_hour: Annotated[int, Field(ge=0)] = 3600
    """Limit for each account, over any hour; 0 if there is none.

    One each second, all day: a person who submits every few seconds, or a CI that runs the catalogue for every push,
    stays below it, and a script that submits in a loop by mistake does not.
    """
    max_attempts: Annotated[int, Field(ge=1)] = 3
    """Attempts at one job before it fails."""
    waiting_per_priority_point: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(seconds=9)
    """The waiting time that one point of priority is worth; 0 if priorities do not count.

    With 9 seconds, a job of priority 100 goes before jobs that came up to 15 minutes earlier. That is the time of the
    longest run, so an urgent job delays a waiting one by at most about one run. A job that comes 30 minutes later (the
    range from -100 to 100) never goes before an earlier one, whatever the priorities.
    """
    orderings: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    """Plug-ins that order queues, as JSON: their options by name."""
    placements: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])
    """Plug-ins that choose machines, as JSON: their options by name."""
    usage_half_life: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(days=1)
    """Time after which half of what a queue used counts no longer against it; 0 if past use never counts."""
    lease_duration: timedelta = timedelta(seconds=30)
    """Term of a lease. It is renewed after every third of this time, and ends by itself if we stop."""
    longest_run: timedelta = LONGEST_RUN
    """Longest time of one attempt. The hold of a job covers it. Executors receive it and end a run that exceeds it."""
    overrun_grace: timedelta = timedelta(minutes=1)
    """Time after the longest run before a run that has not ended is given up."""
    reattach_window: timedelta = timedelta(seconds=10)
    """Longest time that an executor may be out of reach before its run is given up."""
    cancel_grace: timedelta = timedelta(seconds=10)
    """Longest time that an executor may take to end a cancelled run."""
    least_reservation: Annotated[timedelta, Field(ge=timedelta(seconds=1))] = timedelta(minutes=5)
    """Shortest time that can be reserved."""
    longest_reservation: Annotated[timedelta, Field(ge=timedelta(seconds=1))] = timedelta(hours=24)
    """Longest time that can be reserved at once."""
    longest_extended: Annotated[timedelta, Field(ge=timedelta(seconds=1))] = timedelta(hours=48)
    """Longest time of a reservation with all its extensions."""
    longest_reservation_wait: timedelta = timedelta(hours=48)
    """Longest time that a reservation waits for its GPUs before it is cancelled."""
    reservation_grace: Annotated[timedelta, Field(ge=timedelta(0), le=GRACE)] = GRACE
    """Time after the end of a reservation in which its session still lives. The calendar always leaves the most."""
    impossible_after: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(minutes=5)
    """Time after which a waiting job is cancelled that no machine, nor any that the pool may start, can take."""
    no_show_after: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(hours=1)
    """Time without any login after which a reservation is ended; 0 if it never is."""
    dated_no_show_after: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(minutes=30)
    """The same for a reservation with a start of its own, from its start on."""
    dated_lead: Annotated[timedelta, Field(ge=timedelta(0), le=LONGEST_PREPARING)] = timedelta(minutes=5)
    """Time before the start of a dated reservation at which its GPUs are asked for, and its session is prepared."""
    dated_start_within: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(minutes=30)
    """Time after its start, and at most its own length, after which a dated reservation without GPUs fails."""
    dated_most_ahead: Annotated[timedelta, Field(ge=timedelta(minutes=1), le=timedelta(days=366))] = timedelta(days=14)
    """How far ahead a start may be."""
    most_dated_of_user: Annotated[int, Field(ge=0)] = 5
    """Reservations that start later that a user may have at a time; 0 for no limit."""
    most_dated_gpus_of_user: Annotated[int, Field(ge=0)] = 16
    """GPUs of all of these; 0 for no limit."""
    dated_share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of the GPUs of a type that reservations that start later may have at a time, rounded up; 0: there are none.

    A pool of one machine of eight GPUs could promise nobody all eight with less than 1.
    """
    reservation_lease_renewal: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(minutes=10)
    """Interval between two renewals of a reservation's lease, which is as long as the reservation."""
    disk_size: Annotated[int, BeforeValidator(mib_setting), Field(ge=1)] = 100 << 10
    """MiB of a disk, given with a unit: `100g`. It is the size of those that are made without one, and the most."""
    disk_snapshots: Annotated[int, Field(ge=1)] = 10
    """Snapshots that are kept of each disk."""
    disks_per_user: Annotated[int, Field(ge=1)] = 20
    """Disks that a user may have."""
    deleted_disks_kept: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(days=30)
    """Time after which the snapshots of a deleted disk are removed."""
    most_reserved_gpus: Annotated[int, Field(ge=0)] = 0
    """GPUs that a user may have in reservations at a time; 0 for no limit."""
    most_reserved_gpu_time: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    """GPU time that a user may reserve in any seven days, where two GPUs for an hour are two hours; 0 for no limit."""
    maintenance: dict[str, Maintenance] = Field(default_factory=dict[str, Maintenance])
    """GPU types that cannot be reserved now, as JSON: each with the `reason`, and the ids of `users` who still may."""
    gpu_names: dict[str, str] = Field(default_factory=dict[str, str])
    """Our GPU types for names that other clients send with submissions, as JSON: `{"H100": "MI300X"}`."""
    submission_timeout: timedelta = timedelta(seconds=30)
    """Age at which a submission that is not in the queue yet counts as dead."""
    sweep_interval: timedelta = timedelta(seconds=5)
    """Interval between two passes of the rescuer."""
    metrics_interval: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(hours=1))] = timedelta(seconds=15)
    """Interval between two reports of readings to billing, which makes alerts of them."""
    metrics_window: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(days=1))] = timedelta(minutes=15)
    """Time over which failed jobs and lost attempts are counted for alerts."""
    metrics_retention: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(days=30)
    """Time for which the figures of ended attempts are kept."""
    sources_kept: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(days=90)
    """Time after the end of a job for which its source and a problem definition of its own are kept; 0: for ever."""
    events_kept: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(days=90)
    """The same for its events, but the last: compiler output, tests, samples, measurements; 0: for ever."""
    results_kept: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    """The same for its result, the signed report among it; 0: for ever."""
    poll_interval: timedelta = timedelta(seconds=1)
    """Interval between two looks for events that another process wrote and for changes that were not announced."""
    leader_term: LeaderTerm = LEADER_TERM
    """Longest time for which a scheduler that was killed or stopped keeps others from leading, on PostgreSQL."""
    advertised_address: str = ""
    """Where other schedulers on the same database reach this one if it leads, such as `10.0.0.5:50061`. Empty: host and
    port. Needed if the host is a wildcard such as 0.0.0.0."""

    @field_validator("maintenance")
    @classmethod
    def _has_reasons(cls, types: dict[str, Maintenance]) -> dict[str, Maintenance]:
        for gpu_type, one in types.items():
            if not 0 < len(one.reason.strip()) <= MOST_REASON:
                raise ValueError(f"{gpu_type}: give a reason of 1 to {MOST_REASON} characters; its users read it")
        return types

    def address(self, port: int) -> str:
        """The address to give to other schedulers, if this one listens on `port`."""
        return self.advertised_address or f"{self.host}:{port}"
