"""The metrics of runs and sessions."""

from __future__ import annotations

from servicekit.metrics import counter, gauge, histogram

RUN_SECONDS_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)

runs = counter("wavepool_executor_runs", "Runs that are over.", ("mode", "verdict"))
runs_in_flight = gauge("wavepool_executor_runs_in_flight", "Runs being carried out.")
run_seconds = histogram(
    "wavepool_executor_run_seconds", "Time that a run held its slot.", ("mode",), RUN_SECONDS_BUCKETS
)
canaries_failed = counter("wavepool_executor_canaries_failed", "Canaries that found the machine unfit.")
spare_judges = gauge("wavepool_executor_spare_judges", "Judge processes that wait for a run.")
sessions = counter("wavepool_executor_sessions", "Sessions that are over.", ("reason",))
sessions_in_flight = gauge("wavepool_executor_sessions_in_flight", "Sessions that are open, or being opened or ended.")
session_logins = counter("wavepool_executor_session_logins", "Logins to sessions.")
snapshots = counter("wavepool_executor_snapshots", "Snapshots of sessions' disks.", ("result",))
snapshot_seconds = histogram(
    "wavepool_executor_snapshot_seconds",
    "Time that a snapshot of a disk takes.",
    (),
    (0.1, 0.5, 1, 5, 10, 30, 60, 120, 300),
)
session_start_seconds = histogram(
    "wavepool_executor_session_start_seconds",
    "Time from the call that opens a session until it takes connections.",
    (),
    (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
)
