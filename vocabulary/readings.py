"""Readings for alerts: what the scheduler and vmpool report, and billing's built-in rules watch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MACHINE_CPU = "machine.cpu_share"
"""Share of a machine's processors that is busy, over the last minutes."""
MACHINE_MEMORY = "machine.memory_share"
"""Share of a machine's memory that is in use, over the last minutes."""
MACHINE_GPU = "machine.gpu_share"
"""Share of time in which a machine's GPUs were busy, over the window. Only of machines whose driver reports it."""
MACHINE_LEASED = "machine.leased_share"
"""Share of a machine's GPU time that jobs held, over the window. Only of machines that were ready for all of it."""
FAILED_MACHINES = "pool.failed_machines"
"""Machines of a provider that ended by a fault in the window."""
UNMET_DEMAND = "pool.unmet_demand"
"""Jobs that wait for a GPU type while the pool is at its limit, or no machine of that type can be rented."""
STOPPED_SOURCES = "pool.stopped_sources"
"""Sources that nothing is rented from, because their machines were of no use."""

FAILED_JOBS = "jobs.failed_share"
"""Share of the jobs that ended in the window and failed by our fault."""
LOST_ATTEMPTS = "jobs.lost_attempts"
"""Attempts that were lost in the window."""
RUN_SLOWDOWN = "jobs.run_slowdown"
"""How many times as long as before runs of the same problem took in the window."""
OLDEST_WAIT = "queue.oldest_wait_seconds"
"""The time for which the first of the waiting jobs has waited, in seconds."""
P90_WAIT = "queue.p90_wait_seconds"
"""The time that nine of ten waiting jobs have waited at most, in seconds."""
RESERVATION_WARNINGS = {minutes: f"reservation.minutes_left.of_{minutes}" for minutes in (30, 15, 5)}
"""Minutes to the end of a reservation that ends within the hour, for each warning by its minutes, if the reservation
ever had more left: a short one does not cross it, also when it is extended by a little. Its session warns in the same
minutes."""
STUCK_JOBS = "queue.stuck_jobs"
"""Jobs that wait although nothing that runs or starts can serve them, and the pool can start nothing."""


@dataclass(frozen=True)
class Reading:
    """One value. The labels tell things apart, such as machines; the details only serve the texts of alerts."""

    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    details: Mapping[str, str] = field(default_factory=dict[str, str])
