"""Leases: a job's right to a slot of a machine until an instant that its holder keeps moving.

    ACTIVE ──> ENDED     released by its holder, or the machine is over
    ACTIVE ──> EXPIRED   not renewed in time; the slot stays taken until the executor has surely ended the run
    EXPIRED ─> ENDED     the run is gone, or the machine is over

Every lease of a machine has a higher fencing token than those before it, so that an executor can refuse a holder whose
lease has passed to another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from services.vmpool.errors import IllegalMoveError, InvalidFieldError, LeaseEndedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from services.vmpool.machines.machine import Machine
    from services.vmpool.machines.slot import Slot

COLD_START_WINDOW = timedelta(seconds=10)
"""A job that takes a fresh machine this soon after it became ready was waiting for it."""

EXPIRY_GRACE = timedelta(seconds=15)
"""How long a run may take to die after its lease expired before its machine is held to be broken. The executor ends it
at the instant of expiry by itself; what remains is killing the process tree."""


class LeaseState(StrEnum):
    """Where a lease is in its life."""

    ACTIVE = "active"
    EXPIRED = "expired"
    ENDED = "ended"


LEGAL_MOVES: Mapping[LeaseState, frozenset[LeaseState]] = {
    LeaseState.ACTIVE: frozenset({LeaseState.EXPIRED, LeaseState.ENDED}),
    LeaseState.EXPIRED: frozenset({LeaseState.ENDED}),
    LeaseState.ENDED: frozenset(),
}


class StartKind(StrEnum):
    """Whether a job found a machine ready."""

    COLD_START = "cold_start"
    WARM_REUSE = "warm_reuse"


@dataclass(frozen=True)
class Lease:
    """A job's slot of a machine."""

    lease_id: str
    machine_id: str
    job_id: str
    attempt: int
    gpu_type: str
    slot: Slot
    fencing_token: int
    start_kind: StartKind
    create_time: datetime
    expire_time: datetime
    state: LeaseState = LeaseState.ACTIVE
    reason: str = ""
    end_time: datetime | None = None

    def renew(self, now: datetime, duration: timedelta) -> Lease:
        """It holds for `duration` from now; never shortened. LeaseEndedError once it has expired or ended."""
        self.check_alive(now)
        return replace(self, expire_time=max(self.expire_time, now + duration))

    def expire(self) -> Lease:
        """Its holder did not renew it in time."""
        return replace(self._moved(LeaseState.EXPIRED), reason="it expired without being renewed")

    def end(self, now: datetime, reason: str) -> Lease:
        """Its slot is free again."""
        return replace(self._moved(LeaseState.ENDED), reason=self.reason or reason, end_time=now)

    def check_alive(self, now: datetime) -> None:
        """LeaseEndedError unless it still holds."""
        if self.state is not LeaseState.ACTIVE:
            raise LeaseEndedError(self.lease_id, self.reason)
        if self.is_due(now):
            raise LeaseEndedError(self.lease_id, "it expired without being renewed")

    def is_due(self, now: datetime) -> bool:
        """It is active and past its expiry."""
        return self.state is LeaseState.ACTIVE and now >= self.expire_time

    def _moved(self, state: LeaseState) -> Lease:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(f"Lease {self.lease_id!r}", self.state, state)
        return replace(self, state=state)


@dataclass(frozen=True)
class LeaseRequest:
    """What a job asks for; `machine_id` None leaves the choice to the pool.

    `fallback_gpu_types` are taken, in their order, where no machine of `gpu_type` has room.
    """

    job_id: str
    attempt: int
    gpu_type: str
    eighths: int
    machine_id: str | None
    duration: timedelta
    fallback_gpu_types: tuple[str, ...] = ()

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """What the job may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)

    def is_met_by(self, lease: Lease) -> bool:
        """The lease is what is asked for, so that a repeated request gets it again."""
        return (
            self.eighths == lease.slot.eighths
            and lease.gpu_type in self.gpu_types
            and self.machine_id in {None, lease.machine_id}
        )


def start_kind(machine: Machine, now: datetime) -> StartKind:
    """COLD_START for those that waited for the machine: it has not served yet, and became ready only just now."""
    fresh = machine.jobs_run == 0 and machine.ready_time is not None and now - machine.ready_time <= COLD_START_WINDOW
    return StartKind.COLD_START if fresh else StartKind.WARM_REUSE


def check_duration(duration: timedelta, longest: timedelta) -> timedelta:
    """How long a lease may be asked for, or a refusal that tells the limits."""
    if not timedelta(0) < duration <= longest:
        raise InvalidFieldError(
            "duration",
            f"must be more than 0 and at most {longest.total_seconds():g} s; it is {duration.total_seconds():g} s",
        )
    return duration


def check_job(job_id: str, attempt: int) -> None:
    """Refuses a request that does not say whose lease it is."""
    if not job_id:
        raise InvalidFieldError("job_id", "must not be empty")
    if attempt < 0:
        raise InvalidFieldError("attempt", f"must not be negative; it is {attempt}")


def expired_run_is_gone(lease: Lease, runs_in_flight: int, active_leases: int, now: datetime) -> bool:
    """Whether the slot of an expired lease may be given out again, judged by what its executor says.

    Runs are not told apart from here. Where none is in flight all are gone; once the executor has had its time to kill,
    it is enough that no more are in flight than hold a lease.
    """
    if runs_in_flight == 0:
        return True
    return now - lease.expire_time >= EXPIRY_GRACE and runs_in_flight <= active_leases
