"""Leases: the right of a job or a reservation to slots of a machine until an instant that its holder keeps moving.

    ACTIVE ──> ENDED     released by its holder, or the machine is over
    ACTIVE ──> EXPIRED   not renewed in time, or another lease of its gang is over; the slots stay taken until the
                         executor has certainly ended the run
    EXPIRED ─> ENDED     the run is gone, its holder gave the slots back, or the machine is over

Every lease of a machine has a higher fencing token than those before it, so that an executor can refuse a holder whose
lease has passed to another.

A gang is one job's leases of several machines. They are acquired together or not at all, and renewed together. Once
one of them is over, none of the others is renewed any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from services.vmpool.errors import IllegalMoveError, InvalidFieldError, LeaseEndedError
from services.vmpool.machines.machine import Machine
from services.vmpool.machines.slot import check_slots
from vocabulary.slots import EIGHTHS_PER_GPU, Slot, size_of

COLD_START_WINDOW = timedelta(seconds=10)
"""A job that takes a fresh machine this soon after it became ready was waiting for it."""

EXPIRY_GRACE = timedelta(seconds=15)
"""Time that a run may take to die after its lease expired; then its machine counts as broken. The executor ends the run
by itself at the instant of expiry, so that only killing the process tree remains."""

MOST_MACHINES_OF_A_GANG = 64
"""More than a pool has in practice. It bounds the rows that one transaction locks."""


class LeaseState(StrEnum):
    """A lease's state."""

    ACTIVE = "active"
    EXPIRED = "expired"
    ENDED = "ended"


LEGAL_MOVES: Mapping[LeaseState, frozenset[LeaseState]] = {
    LeaseState.ACTIVE: frozenset({LeaseState.EXPIRED, LeaseState.ENDED}),
    LeaseState.EXPIRED: frozenset({LeaseState.ENDED}),
    LeaseState.ENDED: frozenset(),
}


class Holder(StrEnum):
    """For what a lease is."""

    JOB = "job"
    RESERVATION = "reservation"
    """People work on the machine. Its id is the lease's `job_id`."""


class StartKind(StrEnum):
    """COLD_START if the job waited for a fresh machine, WARM_REUSE if it found one ready."""

    COLD_START = "cold_start"
    WARM_REUSE = "warm_reuse"


@dataclass(frozen=True)
class Lease:
    """The right to slots of a machine. `job_id` is the id of its holder, a job or a reservation.

    `part` is its number within its gang, from 0; 0 if it is in no gang.
    """

    lease_id: str
    machine_id: str
    job_id: str
    attempt: int
    gpu_type: str
    slots: tuple[Slot, ...]
    fencing_token: int
    start_kind: StartKind
    create_time: datetime
    expire_time: datetime
    state: LeaseState = LeaseState.ACTIVE
    reason: str = ""
    end_time: datetime | None = None
    gang_id: str = ""
    part: int = 0
    holder: Holder = Holder.JOB

    @property
    def reservation_id(self) -> str:
        """The reservation that has it; empty if a job has it."""
        return self.job_id if self.holder is Holder.RESERVATION else ""

    @property
    def size(self) -> int:
        """The total eighths of its slots."""
        return size_of(self.slots)

    def renew(self, now: datetime, duration: timedelta) -> Lease:
        """Extend it to `duration` from now, and never shorten it; raises LeaseEndedError if it has expired or ended."""
        self.check_alive(now)
        return replace(self, expire_time=max(self.expire_time, now + duration))

    def expire(self) -> Lease:
        """Mark it EXPIRED, because its holder did not renew it in time."""
        return replace(self._moved(LeaseState.EXPIRED), reason="it expired without being renewed")

    def lose_gang(self, other: Lease) -> Lease:
        """Mark it EXPIRED, because another lease of its gang is over."""
        reason = f"lease {other.lease_id} of its gang, on machine {other.machine_id}, is over: {other.reason}"
        return replace(self._moved(LeaseState.EXPIRED), reason=reason)

    def end(self, now: datetime, reason: str) -> Lease:
        """Mark it ENDED, so that its slots are free again."""
        return replace(self._moved(LeaseState.ENDED), reason=self.reason or reason, end_time=now)

    def check_alive(self, now: datetime) -> None:
        """Raises LeaseEndedError unless it is active and not past its expiry."""
        if self.state is not LeaseState.ACTIVE:
            raise LeaseEndedError(self.lease_id, self.reason)
        if self.is_due(now):
            raise LeaseEndedError(self.lease_id, "it expired without being renewed")

    def is_due(self, now: datetime) -> bool:
        """True if it is active and past its expiry."""
        return self.state is LeaseState.ACTIVE and now >= self.expire_time

    def _moved(self, state: LeaseState) -> Lease:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(f"Lease {self.lease_id!r}", self.state, state)
        return replace(self, state=state)


@dataclass(frozen=True)
class Placement:
    """Slots of a machine that a lease is to take."""

    machine_id: str
    slots: tuple[Slot, ...]


@dataclass(frozen=True)
class LeaseRequest:
    """A job's request for a lease of `eighths` in all, as `slot` describes sizes; the pool picks the slots.

    `machine_id` None leaves the choice of the machine to the pool too. `fallback_gpu_types` are taken, in their order,
    if no machine of `gpu_type` has room.
    """

    job_id: str
    attempt: int
    gpu_type: str
    eighths: int
    machine_id: str | None
    duration: timedelta
    fallback_gpu_types: tuple[str, ...] = ()
    idle_time: timedelta | None = None
    """How long the machine is to be kept idle afterwards; None for the pool's setting."""
    holder: Holder = Holder.JOB
    longest_time: timedelta = timedelta(0)
    """How long the machine must last, if that is longer than the lease; only reservations say it."""

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The GPU types that the job may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The total eighths of each of its leases: there is one."""
        return (self.eighths,)

    def is_met_by(self, standing: Sequence[Lease]) -> bool:
        """True if the attempt's leases fit the request, so that a repeated request gets them again."""
        return len(standing) == 1 and (
            self.eighths == standing[0].size
            and self.holder is standing[0].holder
            and standing[0].gpu_type in self.gpu_types
            and self.machine_id in {None, standing[0].machine_id}
        )


@dataclass(frozen=True)
class PlacedRequest:
    """A job's request for exactly these slots; several placements are a gang."""

    job_id: str
    attempt: int
    gpu_type: str
    placements: tuple[Placement, ...]
    duration: timedelta
    fallback_gpu_types: tuple[str, ...] = ()
    idle_time: timedelta | None = None
    """As in `LeaseRequest`."""
    holder: Holder = Holder.JOB
    longest_time: timedelta = timedelta(0)
    """As in `LeaseRequest`."""

    @property
    def gpu_types(self) -> tuple[str, ...]:
        """The GPU types that the job may run on, the wanted one first."""
        return (self.gpu_type, *self.fallback_gpu_types)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The total eighths of each of its leases."""
        return tuple(size_of(placement.slots) for placement in self.placements)

    def is_met_by(self, standing: Sequence[Lease]) -> bool:
        """True if the attempt's leases are those of the request, so that a repeated request gets them again."""
        placements = tuple(Placement(lease.machine_id, lease.slots) for lease in standing)
        return placements == self.placements and all(
            lease.gpu_type in self.gpu_types and lease.holder is self.holder for lease in standing
        )


def check_placements(placements: Sequence[Placement], field: str = "placements") -> tuple[Placement, ...]:
    """The placements with their slots in order; InvalidFieldError says what no machine could give."""
    if len(placements) > MOST_MACHINES_OF_A_GANG:
        raise InvalidFieldError(field, f"must be at most {MOST_MACHINES_OF_A_GANG}; there are {len(placements)}")
    machine_ids = [placement.machine_id for placement in placements]
    if "" in machine_ids:
        raise InvalidFieldError(f"{field}.machine_id", "must not be empty")
    if len(set(machine_ids)) < len(machine_ids):
        raise InvalidFieldError(f"{field}.machine_id", "must not name a machine twice")
    return tuple(
        Placement(placement.machine_id, check_slots(placement.slots, f"{field}.slots")) for placement in placements
    )


def check_placement_on(machine: Machine, placement: Placement, gpu_types: Sequence[str]) -> None:
    """Raises InvalidFieldError if the machine never has these slots, or is of another GPU type."""
    if machine.gpu_type not in gpu_types:
        raise InvalidFieldError(
            "placements.machine_id",
            f"machine {machine.machine_id} is a {machine.gpu_type}, and the job runs on {', '.join(gpu_types)}",
        )
    last = placement.slots[-1].gpu
    if last >= machine.gpu_count:
        has = f"the GPUs 0 to {machine.gpu_count - 1}" if machine.gpu_count > 1 else "GPU 0 only"
        raise InvalidFieldError("placements.slots.gpu", f"machine {machine.machine_id} has {has}; it is {last}")


def check_lasts(machine: Machine, end: datetime) -> None:
    """Raises InvalidFieldError if a reservation would end after the longest life of the machine."""
    if machine.lasts_until(end) or machine.life_end is None:
        return
    raise InvalidFieldError(
        "duration",
        f"machine {machine.machine_id} reaches its longest life of {machine.max_duration.total_seconds():g} s "
        f"(max_duration of its order, or VMPOOL_{machine.provider.upper()}_MAX_DURATION) "
        f"{(end - machine.life_end).total_seconds():g} s before the end of the reservation: take another machine",
    )


def start_kind(machine: Machine, now: datetime) -> StartKind:
    """COLD_START if the machine became ready only just now and has not served yet, else WARM_REUSE."""
    fresh = machine.jobs_run == 0 and machine.ready_time is not None and now - machine.ready_time <= COLD_START_WINDOW
    return StartKind.COLD_START if fresh else StartKind.WARM_REUSE


def check_duration(duration: timedelta, longest: timedelta, setting: str, field: str = "duration") -> timedelta:
    """The duration, if a lease may be that long; InvalidFieldError gives the limits, and the setting that they are."""
    if not timedelta(0) < duration <= longest:
        raise InvalidFieldError(
            field,
            f"must be more than 0 and at most {longest.total_seconds():g} s ({setting}); "
            f"it is {duration.total_seconds():g} s",
        )
    return duration


def time_needed(request: LeaseRequest | PlacedRequest) -> timedelta:
    """How long the machine of a reservation must last."""
    return max(request.duration, request.longest_time)


def check_whole_gpus(request: LeaseRequest | PlacedRequest) -> None:
    """Raises InvalidFieldError if a reservation asks for a part of a GPU: people share no GPU with anybody."""
    part = next((size for size in request.sizes if size % EIGHTHS_PER_GPU), None)
    if request.holder is Holder.RESERVATION and part is not None:
        raise InvalidFieldError(
            "placements.slots.eighths" if isinstance(request, PlacedRequest) else "eighths",
            f"must be {EIGHTHS_PER_GPU}, because a reservation takes whole GPUs; it is {part}",
        )


def check_idle_time(idle_time: timedelta) -> timedelta:
    """The time for which a machine is to be kept idle; InvalidFieldError if it is negative."""
    if idle_time < timedelta(0):
        raise InvalidFieldError("idle_time", f"must not be negative; it is {idle_time.total_seconds():g} s")
    return idle_time


def check_job(job_id: str, attempt: int) -> None:
    """Raises InvalidFieldError if a request does not say whose lease it is."""
    if not job_id:
        raise InvalidFieldError("job_id", "must not be empty")
    if attempt < 0:
        raise InvalidFieldError("attempt", f"must not be negative; it is {attempt}")


_SHORTEST_OF_SESSIONS = timedelta(minutes=10)
"""A reservation is for 5 minutes at least, and its lease for over an hour more once a session may be opened."""


def expired_run_is_gone(lease: Lease, runs_in_flight: int, active_leases: int, now: datetime) -> bool:
    """True if the slots of an expired lease may be given out again, judged by its executor's report.

    Runs cannot be told apart from here. If none is in flight, all are gone. Once the executor has had its time to kill,
    it is enough that no more runs are in flight than leases are active. It is not for a reservation: its session counts
    as a run, and another lease may stand without one. But no session is opened before its lease is long. Until its time
    of expiry, the executor would still begin a run under the lease: it does not know what became of the rest of a gang.
    """
    if now < lease.expire_time:
        return False
    if runs_in_flight == 0:
        return True
    surely_few = now - lease.expire_time >= EXPIRY_GRACE and runs_in_flight <= active_leases
    was_never_long = lease.expire_time - lease.create_time < _SHORTEST_OF_SESSIONS
    return surely_few and (lease.holder is Holder.JOB or was_never_long)


def run_outlives(lease: Lease, runs_in_flight: int, active_leases: int, now: datetime) -> bool:
    """True if the run or session of an expired lease should have died by now and surely has not."""
    return now - lease.expire_time >= EXPIRY_GRACE and runs_in_flight > active_leases
