"""The scheduler's Prometheus metrics."""

from __future__ import annotations

from servicekit.metrics import counter, gauge, histogram

SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
EVENT_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

queue_seconds = histogram(
    "wavepool_scheduler_queue_seconds",
    "From submission to the lease of the first attempt.",
    ("start",),
    SECONDS_BUCKETS,
)
wait_estimates = counter(
    "wavepool_scheduler_wait_estimates",
    "First attempts that began within the p50 or the p90 that was told at submission, or within neither.",
    ("within",),
)
run_seconds = histogram(
    "wavepool_scheduler_run_seconds", "From lease to the run's end, for jobs with a verdict.", (), SECONDS_BUCKETS
)
jobs_submitted = counter("wavepool_scheduler_jobs_submitted", "Jobs that entered the queue.")
jobs_ended = counter("wavepool_scheduler_jobs_ended", "Jobs that are over.", ("state", "verdict"))
attempts_lost = counter("wavepool_scheduler_attempts_lost", "Attempts that ended through no fault of the submission.")
jobs_preempted = counter("wavepool_scheduler_jobs_preempted", "Runs that were stopped for another queue's job.")
events_committed = histogram(
    "wavepool_scheduler_run_events_committed", "Run events that went into one transaction.", (), EVENT_BUCKETS
)
jobs_waiting = gauge("wavepool_scheduler_jobs_waiting", "Jobs in the queue, those that wait for a machine included.")
jobs_carried = gauge("wavepool_scheduler_jobs_carried", "Jobs that run or are being settled.")
job_followers = gauge("wavepool_scheduler_job_followers", "Open WatchJob streams.")
