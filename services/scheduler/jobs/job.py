"""A job and its life: one named method for each move between the states of `states.py`.

A move gives a new Job. The store writes it only if the row is still as the move found it, in one transaction with the
events of the move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from services.scheduler.jobs.errors import IllegalMoveError
from services.scheduler.jobs.hardware import hardware_of
from services.scheduler.jobs.reservation import GRACE, Reservation, state_of
from services.scheduler.jobs.reservation_states import ReservationState
from services.scheduler.jobs.resources import Reuse
from services.scheduler.jobs.spec import JobSpec, Lease
from services.scheduler.jobs.states import LEGAL_MOVES, WAITING_STATES, JobState
from submissions.visibility import Visibility
from vocabulary.money import price_of

_OPEN_STATES = frozenset({ReservationState.ACTIVE, ReservationState.EXPIRING})


@dataclass(frozen=True)
class Outcome:
    """The end of a job: the state after SETTLING, and the verdict, message, result and cost."""

    ending: JobState
    verdict: str
    """Name of the executor's Verdict without its prefix, for example `WRONG_ANSWER`."""
    message: str
    result: bytes
    """The executor's Finished message, serialised."""
    cost_micros: int


@dataclass(frozen=True)
class Job:
    """One row. The source is stored separately: it is large, and only a run needs it."""

    job_id: str
    account_id: str
    idempotency_key: str | None
    fingerprint: str
    spec: JobSpec
    state: JobState
    create_time: datetime
    price_micros_per_hour: int
    """Price of a GPU of the wanted type at the time of submission."""
    hold_micros: int
    """Covers the longest run on the most expensive GPU type that is allowed."""
    fallback_prices_micros_per_hour: tuple[int, ...] = ()
    """Price of each fallback GPU type at the time of submission."""
    user_id: str = ""
    """Who submitted the job; empty for jobs from before there were users."""
    has_definition: bool = False
    """True if the job comes with a problem definition, which needs torch."""
    request_id: str = ""
    """Request ID of the submission; the logs of all services carry it."""
    hold_id: str | None = None
    attempt: int = 1
    attempts_excused: int = 0
    """Lost attempts that do not count, because somebody stopped the machine."""
    start_time: datetime | None = None
    """Time at which the present attempt got its machine."""
    end_time: datetime | None = None
    cancel_time: datetime | None = None
    lease: Lease | None = None
    machine_id: str = ""
    machine_gpu_type: str = ""
    """GPU type that the present attempt got, one of the allowed types."""
    machine_device: str = ""
    """Device that its machine's executor reports, such as `rocm` or `cpu`; empty before, and if it is not known."""
    got_eighths: int = 0
    """What the present attempt got, in eighths of GPUs; 0 before, and in runs from before there were ranges."""
    run_seq: int = 0
    """Sequence number of the last event of the present run in the log."""
    last_seq: int = 0
    """Sequence number of the last event in the log."""
    cost_micros: int = 0
    ending: JobState | None = None
    verdict: str = ""
    message: str = ""
    result: bytes = b""
    more_leases: tuple[Lease, ...] = ()
    """Those of its other machines by rank, from 1, if it has several; vmpool renews all together."""
    reservation: Reservation | None = None
    """What people reserved, if the job runs a session for them; None for a submission."""
    visibility: Visibility = Visibility.PRIVATE

    @property
    def run_id(self) -> str:
        """The executor's name for the present attempt."""
        return f"{self.job_id}-{self.attempt}"

    @property
    def leases(self) -> tuple[Lease, ...]:
        """All that it holds, one for each of its machines, by rank."""
        return (self.lease, *self.more_leases) if self.lease else ()

    @property
    def own_job_id(self) -> str:
        """Its id if it wants a machine that is started for it; else empty."""
        return self.job_id if self.spec.reuse is Reuse.CREATE else ""

    @property
    def failed_attempts(self) -> int:
        """Number of attempts, including the present one, without the excused ones."""
        return self.attempt - self.attempts_excused

    @property
    def machine_price_micros_per_hour(self) -> int:
        """The price that applies to the present attempt: that of the GPU type that it got."""
        fallbacks = dict(zip(self.spec.fallback_gpu_types, self.fallback_prices_micros_per_hour, strict=True))
        return fallbacks.get(self.machine_gpu_type, self.price_micros_per_hour)

    @property
    def hardware(self) -> str:
        """What the present attempt runs on: its GPU type, or the cpu device; empty before it has a machine."""
        return hardware_of(self.machine_device, self.machine_gpu_type) if self.machine_gpu_type else ""

    @property
    def eighths(self) -> int:
        """What the present attempt takes, or the most that a job without one can take."""
        return self.got_eighths or self.spec.resources.eighths * self.spec.machines

    @property
    def is_dated(self) -> bool:
        """True for a reservation with a start of its own."""
        return self.reservation is not None and self.reservation.start_time is not None

    @property
    def is_pending(self) -> bool:
        """True for a dated reservation whose start is far off: nothing is to be done for it yet."""
        return self.reservation is not None and self.reservation.is_pending and self.state in WAITING_STATES

    @property
    def longest_lease(self) -> timedelta | None:
        """For how long it is given machines at once: a reservation's lease lasts for days; None for a submission."""
        return self.reservation.longest_lease if self.reservation else None

    @property
    def reserved(self) -> Reservation:
        """What people reserved; raises TypeError for a submission."""
        if self.reservation is None:
            raise TypeError(f"{self.job_id} is no reservation")
        return self.reservation

    @property
    def reservation_state(self) -> ReservationState:
        """The state of a reservation; raises TypeError for a submission."""
        return state_of(self.state, self.reserved, is_cancelled=self.cancel_time is not None)

    @property
    def takes_logins(self) -> bool:
        """True if people can log in to the reservation; one that is cancelled is about to be closed."""
        return self.state is JobState.RUNNING and self.reservation_state in _OPEN_STATES and not self.cancel_time

    def longest_run(self, operators_limit: timedelta) -> timedelta:
        """The longest time for which the present attempt, or the next one, has its machine."""
        if self.reservation is None:
            return self.spec.longest_run(operators_limit)
        if self.reservation.expire_time is None and self.reservation.start_time is None:
            return self.reservation.total + GRACE
        begin = self.start_time or self.create_time
        return max(self.reservation.end_if_opened(begin) + GRACE - begin, GRACE)

    def charge_for(self, billable: timedelta) -> int:
        """Charge for the billable time of the present attempt, in micro-dollars; at most the job's hold."""
        price = price_of(billable, self.machine_price_micros_per_hour, eighths=self.eighths)
        return min(price, self.hold_micros)

    def changed(self, **changes: Any) -> Job:  # noqa: ANN401 - values of any fields
        """The job with other values of some fields, as `dataclasses.replace` gives it in seven times the time."""
        job: Job = object.__new__(Job)
        vars(job).update(vars(self), **changes)
        return job

    def of_type(self, gpu_type: str) -> Job:
        """The job, if it wanted this one of its GPU types and no other: several machines are all of one type."""
        if self.spec.gpu_types == (gpu_type,):
            return self
        return self.changed(spec=replace(self.spec, gpu_type=gpu_type, fallback_gpu_types=()))

    def priced(self, hold_micros: int, prices_micros_per_hour: Mapping[str, int]) -> Job:
        """Takes over the amount and the prices of the hold that billing made."""
        price, *fallback_prices = [prices_micros_per_hour[gpu_type] for gpu_type in self.spec.gpu_types]
        return self.changed(
            hold_micros=hold_micros,
            price_micros_per_hour=price,
            fallback_prices_micros_per_hour=tuple(fallback_prices),
        )

    def enqueue(self, hold_id: str) -> Job:
        """Puts the job in the queue, after its credit was put on hold."""
        if self.state is not JobState.RESERVING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        return self._moved(JobState.QUEUED).changed(hold_id=hold_id)

    def abandon(self) -> Job:
        """Gives up a submission that died, and frees its key for another try."""
        return self._moved(JobState.ABANDONED).changed(idempotency_key=None)

    def provision(self) -> Job:
        """Notes that a machine is being started for the job."""
        return self._moved(JobState.PROVISIONING)

    def requeue(self) -> Job:
        """Puts the job back in the queue, because no machine is being started for it any more."""
        if self.state is not JobState.PROVISIONING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        return self._moved(JobState.QUEUED)

    def start(
        self,
        lease: Lease,
        now: datetime,
        machine_gpu_type: str = "",
        more_leases: Sequence[Lease] = (),
        node_seed: str = "",
        node_addresses: Sequence[str] = (),
        machine_device: str = "",
    ) -> Job:
        """Notes that the job has its machines; if no GPU type is reported, the wanted one is assumed.

        `node_seed` is a secret for the sessions of several machines, which reach one another at `node_addresses`.
        """
        running = self._moved(JobState.RUNNING)
        running = running.changed(
            machine_gpu_type=machine_gpu_type or self.spec.gpu_type, machine_device=machine_device
        )
        eighths = sum(one.eighths for one in (lease, *more_leases))
        running = running.changed(lease=lease, machine_id=lease.machine_id, got_eighths=eighths)
        if more_leases:
            running = running.changed(
                more_leases=tuple(more_leases),
                reservation=self.reserved.on(more_leases, node_seed, node_addresses),
            )
        return running.changed(start_time=now, run_seq=0, cost_micros=0)

    def progress(self, run_seq: int, cost_micros: int) -> Job:
        """Notes that events up to `run_seq` are stored; the job stays RUNNING."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.RUNNING)
        return self.changed(run_seq=run_seq, cost_micros=cost_micros)

    def request_cancel(self, now: datetime) -> Job:
        """Notes that someone wants the job to end; its attempt passes that on. The job stays RUNNING."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.RUNNING)
        return self.changed(cancel_time=self.cancel_time or now)

    def retry(self, *, excused: bool = False) -> Job:
        """Puts the job back in the queue after a lost attempt; an `excused` loss does not count against the job."""
        if self.state is not JobState.RUNNING:
            raise IllegalMoveError(self.job_id, self.state, JobState.QUEUED)
        queued = self._moved(JobState.QUEUED)
        fresh = queued.changed(attempt=self.attempt + 1, lease=None, machine_id="", got_eighths=0, start_time=None)
        attempts_excused = self.attempts_excused + excused
        reservation = self.reservation.afresh() if self.reservation else None
        return fresh.changed(
            more_leases=(),
            attempts_excused=attempts_excused,
            machine_gpu_type="",
            machine_device="",
            run_seq=0,
            cost_micros=0,
            reservation=reservation,
        )

    def settle(self, outcome: Outcome) -> Job:
        """Notes how the job ends; charge and lease remain to be settled."""
        if JobState(outcome.ending) not in LEGAL_MOVES[JobState.SETTLING]:
            raise IllegalMoveError(self.job_id, JobState.SETTLING, outcome.ending)
        return self._moved(JobState.SETTLING).changed(
            ending=outcome.ending,
            verdict=outcome.verdict,
            message=outcome.message,
            result=outcome.result,
            cost_micros=outcome.cost_micros,
        )

    def finish(self, cost_micros: int, now: datetime) -> Job:
        """Ends the job, after charge and lease were settled."""
        if self.ending is None:
            raise IllegalMoveError(self.job_id, self.state, JobState.FINISHED)
        return self._moved(self.ending).changed(cost_micros=cost_micros, end_time=now, lease=None, more_leases=())

    def _moved(self, state: JobState) -> Job:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(self.job_id, self.state, state)
        return self.changed(state=state)


@dataclass(frozen=True)
class JobEvent:
    """One row of a job's log."""

    job_id: str
    seq: int
    time: datetime
    attempt: int
    cost_micros: int
    last: bool
    """True if no event follows."""
    payload: bytes
    """A serialised JobEvent with only its `event` set; the other fields are the ones above."""
