"""A job and its life: the states, the one table of legal moves, and one named method for each of them.

A move gives a new Job; the store then writes it only if the row is still as the move found it, together with the
events that the move makes, in one transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from services.scheduler.jobs.errors import IllegalMoveError
from vocabulary.money import price_of

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from services.scheduler.jobs.spec import JobSpec, Lease


class JobState(StrEnum):
    """Where a job is in its life."""

    RESERVING = "reserving"
    """Credit is being put on hold; nobody sees the job yet. Entered by SubmitJob; left by SubmitJob (QUEUED, or the
    row is deleted when credit is refused) or, when that died, by the rescuer (ABANDONED)."""
    ABANDONED = "abandoned"
    """Its submission died; a hold may exist. Entered by the rescuer, which gives the hold back and deletes the row."""
    QUEUED = "queued"
    """It waits for its turn. Entered by SubmitJob, the dispatcher (its machine failed to start) and an attempt that
    was lost; left by the dispatcher (PROVISIONING, RUNNING, SETTLING when the pool refuses it) and CancelJob."""
    PROVISIONING = "provisioning"
    """It is next, and a machine is being started for it. Entered and left by the dispatcher; left by CancelJob."""
    RUNNING = "running"
    """It holds a lease and runs on a machine. Entered by the dispatcher; left by its attempt."""
    SETTLING = "settling"
    """It has run or never will; charge and lease are being settled. Entered by its attempt, the dispatcher and
    CancelJob; left by the settler."""
    FINISHED = "finished"
    """Over, with a verdict about the submission. Entered by the settler."""
    CANCELLED = "cancelled"
    """Over, because someone cancelled it. Entered by the settler."""
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


@dataclass(frozen=True)
class Outcome:
    """How a job is to end: the state that follows SETTLING, and what the end says."""

    ending: JobState
    verdict: str
    """A name of the executor's Verdict without its prefix, e.g. `WRONG_ANSWER`."""
    message: str
    result: bytes
    """The executor's Finished message, serialised."""
    cost_micros: int


@dataclass(frozen=True)
class Job:
    """One row. The source is kept apart: it is large, and only a run needs it."""

    job_id: str
    account_id: str
    idempotency_key: str | None
    fingerprint: str
    spec: JobSpec
    state: JobState
    create_time: datetime
    price_micros_per_hour: int
    """Of the wanted GPU type, as it was at submission."""
    hold_micros: int
    """Covers the longest run on the dearest GPU type that is allowed."""
    fallback_prices_micros_per_hour: tuple[int, ...] = ()
    """As it was at submission, of each fallback GPU type."""
    has_definition: bool = False
    """It comes with a problem definition, which takes torch to evaluate."""
    request_id: str = ""
    """Of the submission; follows the job through every service's logs."""
    hold_id: str | None = None
    attempt: int = 1
    attempts_excused: int = 0
    """Lost ones that do not count: somebody stopped the machine."""
    start_time: datetime | None = None
    """When the present attempt got its machine."""
    end_time: datetime | None = None
    cancel_time: datetime | None = None
    lease: Lease | None = None
    machine_id: str = ""
    machine_gpu_type: str = ""
    """What the present attempt got, of the GPU types that are allowed."""
    run_seq: int = 0
    """The last event of the present run that is in the log."""
    last_seq: int = 0
    """The last event in the log."""
    cost_micros: int = 0
    ending: JobState | None = None
    verdict: str = ""
    message: str = ""
    result: bytes = b""

    @property
    def run_id(self) -> str:
        """What the executor knows the present attempt by."""
        return f"{self.job_id}-{self.attempt}"

    @property
    def failed_attempts(self) -> int:
        """How many attempts there were, the present one too, less those that do not count."""
        return self.attempt - self.attempts_excused

    @property
    def machine_price_micros_per_hour(self) -> int:
        """What the present attempt's time costs: the price of the GPU type that it got."""
        fallbacks = dict(zip(self.spec.fallback_gpu_types, self.fallback_prices_micros_per_hour, strict=True))
        return fallbacks.get(self.machine_gpu_type, self.price_micros_per_hour)

    def charge_for(self, billable: timedelta) -> int:
        """What the present attempt's time is charged at, in micro-dollars: never more than is on hold for the job."""
        return min(price_of(billable, self.machine_price_micros_per_hour), self.hold_micros)

    def enqueue(self, hold_id: str) -> Job:
        """The credit is on hold: the job takes its place in the queue."""
        if self.state is not JobState.RESERVING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        return replace(self._moved(JobState.QUEUED), hold_id=hold_id)

    def abandon(self) -> Job:
        """The submission died; its key is free for another try."""
        return replace(self._moved(JobState.ABANDONED), idempotency_key=None)

    def provision(self) -> Job:
        """A machine is being started for it."""
        return self._moved(JobState.PROVISIONING)

    def requeue(self) -> Job:
        """No machine is being started for it any more."""
        if self.state is not JobState.PROVISIONING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        return self._moved(JobState.QUEUED)

    def start(self, lease: Lease, now: datetime, machine_gpu_type: str = "") -> Job:
        """It has a machine; if its GPU type is not reported, it is taken for the wanted one."""
        running = replace(self._moved(JobState.RUNNING), machine_gpu_type=machine_gpu_type or self.spec.gpu_type)
        return replace(running, lease=lease, machine_id=lease.machine_id, start_time=now, run_seq=0, cost_micros=0)

    def progress(self, run_seq: int, cost_micros: int) -> Job:
        """Events up to `run_seq` are stored; stays RUNNING."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.RUNNING)
        return replace(self, run_seq=run_seq, cost_micros=cost_micros)

    def request_cancel(self, now: datetime) -> Job:
        """Someone wants it to end while it runs; its attempt passes that on. Stays RUNNING."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.RUNNING)
        return replace(self, cancel_time=self.cancel_time or now)

    def retry(self, *, excused: bool = False) -> Job:
        """The attempt is lost through no fault of the submission; an `excused` one is not held against the job."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        queued = self._moved(JobState.QUEUED)
        fresh = replace(queued, attempt=self.attempt + 1, lease=None, machine_id="", start_time=None)
        attempts_excused = self.attempts_excused + excused
        return replace(fresh, attempts_excused=attempts_excused, machine_gpu_type="", run_seq=0, cost_micros=0)

    def settle(self, outcome: Outcome) -> Job:
        """It is known how the job ends; charge and lease remain to be settled."""
        if JobState(outcome.ending) not in LEGAL_MOVES[JobState.SETTLING]:
            raise IllegalMoveError(self.job_id, JobState.SETTLING, outcome.ending)
        return replace(
            self._moved(JobState.SETTLING),
            ending=outcome.ending,
            verdict=outcome.verdict,
            message=outcome.message,
            result=outcome.result,
            cost_micros=outcome.cost_micros,
        )

    def finish(self, cost_micros: int, now: datetime) -> Job:
        """Charge and lease are settled: the job is over."""
        if self.ending is None:
            raise IllegalMoveError(self.job_id, self.state, JobState.FINISHED)
        return replace(self._moved(self.ending), cost_micros=cost_micros, end_time=now, lease=None)

    def _moved(self, state: JobState) -> Job:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(self.job_id, self.state, state)
        return replace(self, state=state)


@dataclass(frozen=True)
class JobEvent:
    """One row of a job's log."""

    job_id: str
    seq: int
    time: datetime
    attempt: int
    cost_micros: int
    last: bool
    """No event follows."""
    payload: bytes
    """A serialised JobEvent message that has only what happened; the rest are the fields above."""
