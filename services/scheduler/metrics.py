"""The scheduler's Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from servicekit.metrics import counter, gauge, histogram
from services.scheduler.jobs.ended_attempt import EndedAttempt
from services.scheduler.jobs.queue_state import QueueState
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.states import JobState
from vocabulary.verdicts import ACCEPTED, INFRA_ERROR

SECONDS_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
WAIT_BUCKETS = (0.1, 1, 10, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800)
"""Reservations wait for each other's ends, two days at most unless the operator says otherwise."""
EVENT_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

queue_seconds = histogram(
    "wavepool_scheduler_queue_seconds",
    "From submission to the lease of the first attempt. Reservations are not counted.",
    ("start", "gpu_type"),
    SECONDS_BUCKETS,
)
wait_estimates = counter(
    "wavepool_scheduler_wait_estimates",
    "First attempts that began within the p50 or the p90 that was estimated at submission, or within neither.",
    ("within",),
)
first_stage_seconds = histogram(
    "wavepool_scheduler_first_stage_seconds",
    "From submission to the first event of its first run. Reservations are not counted.",
    (),
    SECONDS_BUCKETS,
)
run_seconds = histogram(
    "wavepool_scheduler_run_seconds", "From lease to the run's end, for jobs with a verdict.", (), SECONDS_BUCKETS
)
jobs_submitted = counter("wavepool_scheduler_jobs_submitted", "Jobs that entered the queue.")
jobs_ended = counter("wavepool_scheduler_jobs_ended", "Jobs that are over.", ("state", "verdict"))
# A rate does not see how a series begins.
for _state, _verdict in ((JobState.FINISHED, ACCEPTED), (JobState.FAILED, INFRA_ERROR)):
    jobs_ended.labels(_state, _verdict)
attempts_lost = counter("wavepool_scheduler_attempts_lost", "Attempts that ended through no fault of the submission.")
jobs_preempted = counter("wavepool_scheduler_jobs_preempted", "Runs that were stopped for another queue's job.")
jobs_restarted = counter(
    "wavepool_scheduler_jobs_restarted", "Runs that were stopped to start again, moved or shrunk.", ("why",)
)
plugin_failures = counter(
    "wavepool_scheduler_plugin_failures",
    "Answers of orderings and placements that could not be used; the built-in ones decided.",
    ("kind", "name"),
)
events_committed = histogram(
    "wavepool_scheduler_run_events_committed", "Run events that went into one transaction.", (), EVENT_BUCKETS
)
jobs_waiting = gauge("wavepool_scheduler_jobs_waiting", "Jobs in the queue, those that wait for a machine included.")
jobs_carried = gauge("wavepool_scheduler_jobs_carried", "Jobs that run or are being settled.")
job_followers = gauge("wavepool_scheduler_job_followers", "Open WatchJob streams.")
account_followers = gauge("wavepool_scheduler_account_followers", "Open WatchJobs streams.")
gpu_seconds = counter(
    "wavepool_scheduler_gpu_seconds",
    "GPU seconds of attempts that are over: useful ones led to a verdict, paid ones were leased.",
    ("queue", "gpu_type", "kind"),
)
waiting_by_queue = gauge("wavepool_scheduler_queue_jobs_waiting", "Jobs that wait.", ("queue", "gpu_type"))
stuck_by_queue = gauge(
    "wavepool_scheduler_queue_jobs_stuck", "Jobs that wait though nothing can be started.", ("queue", "gpu_type")
)
oldest_wait_seconds = gauge(
    "wavepool_scheduler_queue_oldest_wait_seconds", "Longest wait of the waiting jobs.", ("queue", "gpu_type")
)
p90_wait_seconds = gauge(
    "wavepool_scheduler_queue_p90_wait_seconds",
    "90th percentile of the waits of waiting jobs.",
    ("queue", "gpu_type"),
)
reservations_now = gauge(
    "wavepool_scheduler_reservations", "Reservations that are not over, by their state.", ("gpu_type", "state")
)
reservation_waits = histogram(
    "wavepool_scheduler_reservation_wait_seconds",
    "From making a reservation without a start time to getting its GPUs.",
    ("gpu_type",),
    WAIT_BUCKETS,
)
reservation_starts = histogram(
    "wavepool_scheduler_reservation_start_seconds", "Steps of the start of sessions.", ("step",), SECONDS_BUCKETS
)
reservations_ended = counter(
    "wavepool_scheduler_reservations_ended",
    "Reservations that had a machine and have ended. Why: `no_show`, `early` for other early ends, or nothing.",
    ("state", "why"),
)
reservation_gpu_seconds = counter(
    "wavepool_scheduler_reservation_gpu_seconds", "GPU seconds of reservations that have ended.", ("user", "gpu_type")
)
snapshots = counter("wavepool_scheduler_snapshots", "Snapshots of disks in use, by outcome.", ("result",))
snapshot_seconds = histogram(
    "wavepool_scheduler_snapshot_seconds", "Time that a snapshot of a disk takes.", (), SECONDS_BUCKETS
)
session_events = counter("wavepool_scheduler_session_events", "Logins, warnings and the like in sessions.", ("event",))


def attempt_ended(attempt: EndedAttempt) -> None:
    """Counts the GPU time of an attempt that is over."""
    for kind, time in (("useful", attempt.useful_gpu_time), ("paid", attempt.leased_gpu_time)):
        gpu_seconds.labels(attempt.queue, attempt.gpu_type, kind).inc(time.total_seconds())


def show_queues(states: Iterable[QueueState]) -> None:
    """Shows what waits now; queues that have no jobs any more are left out."""
    for each in (waiting_by_queue, stuck_by_queue, oldest_wait_seconds, p90_wait_seconds):
        each.clear()
    for state in states:
        place = (state.queue, state.gpu_type)
        waiting_by_queue.labels(*place).set(state.waiting)
        stuck_by_queue.labels(*place).set(state.stuck)
        oldest_wait_seconds.labels(*place).set(state.oldest_wait_seconds)
        p90_wait_seconds.labels(*place).set(state.p90_wait_seconds)


def show_reservations(counts: Mapping[tuple[str, ReservationState], int]) -> None:
    """Shows how many reservations there are now; types and states that have none are left out."""
    reservations_now.clear()
    for (gpu_type, state), count in counts.items():
        reservations_now.labels(gpu_type, state).set(count)
