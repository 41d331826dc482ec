"""The states of a job, and the one table of legal moves."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """The state of a job."""

    RESERVING = "reserving"
    """Credit is being put on hold; nobody sees the job yet. Entered by SubmitJob; left by SubmitJob (to QUEUED, or the
    row is deleted when credit is refused) or, if SubmitJob died, by the rescuer (to ABANDONED)."""
    ABANDONED = "abandoned"
    """Its submission died; a hold may exist. Entered by the rescuer, which gives the hold back and deletes the row."""
    QUEUED = "queued"
    """Waits for its turn. Entered by SubmitJob, the dispatcher (if its machine failed to start) and an attempt that was
    lost; left by the dispatcher (to PROVISIONING, RUNNING, or SETTLING if the pool refuses it) and CancelJob."""
    PROVISIONING = "provisioning"
    """It is next, and a machine is being started for it. Entered and left by the dispatcher; left by CancelJob."""
    RUNNING = "running"
    """Holds a lease and runs on a machine. Entered by the dispatcher; left by its attempt."""
    SETTLING = "settling"
    """Has run, or never will; charge and lease are being settled. Entered by its attempt, the dispatcher and CancelJob;
    left by the settler."""
    FINISHED = "finished"
    """Over, with a verdict about the submission. Entered by the settler."""
    CANCELLED = "cancelled"
    """Over, because someone cancelled it, or its deadline had become too near. Entered by the settler."""
    FAILED = "failed"
    """Over, because we failed too often; nothing is charged. Entered by the settler."""


LEGAL_MOVES: dict[JobState, frozenset[JobState]] = {
    JobState.RESERVING: frozenset({JobState.QUEUED, JobState.ABANDONED}),
    JobState.ABANDONED: frozenset(),
    JobState.QUEUED: frozenset({JobState.PROVISIONING, JobState.RUNNING, JobState.SETTLING}),
    JobState.PROVISIONING: frozenset({JobState.QUEUED, JobState.RUNNING, JobState.SETTLING}),
    JobState.RUNNING: frozenset({JobState.QUEUED, JobState.SETTLING}),
    JobState.SETTLING: frozenset({JobState.FINISHED, JobState.CANCELLED, JobState.FAILED}),
    JobState.FINISHED: frozenset(),
    JobState.CANCELLED: frozenset(),
    JobState.FAILED: frozenset(),
}
UNSEEN_STATES = frozenset({JobState.RESERVING, JobState.ABANDONED})
WAITING_STATES = frozenset({JobState.QUEUED, JobState.PROVISIONING})
STARTED_STATES = frozenset({JobState.RUNNING, JobState.SETTLING})
OVER_STATES = frozenset({JobState.FINISHED, JobState.CANCELLED, JobState.FAILED})
IN_FLIGHT_STATES = frozenset({JobState.RESERVING}) | WAITING_STATES | STARTED_STATES
