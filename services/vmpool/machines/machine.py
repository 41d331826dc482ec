"""A machine's life.

    REQUESTED ──> PROVISIONING ──> STARTING ──> WARM <──> BUSY
        │              │              │          │         │
        └──────────────┴──────────────┤          ├─────────┤
                                      │          │         │
                              FAILED or DRAINING   DRAINING or LOST
                                                 │
                                         STOPPED or LOST

Each transition is one method: it takes the time, returns the changed machine, and touches nothing else.
STOPPED, FAILED and LOST are final. A machine that is over may still have to be released at its provider; it has a
`release_time` once that is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from services.vmpool.errors import IllegalMoveError
from services.vmpool.fault import Fault
from vocabulary import slots
from vocabulary.money import MICROSECOND, Tariff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from vocabulary.slots import Slot


class MachineState(StrEnum):
    """A machine's state; `docs/states.md` says who changes it."""

    REQUESTED = "requested"
    PROVISIONING = "provisioning"
    STARTING = "starting"
    WARM = "warm"
    BUSY = "busy"
    DRAINING = "draining"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"


_S = MachineState

LEGAL_MOVES: Mapping[MachineState, frozenset[MachineState]] = {
    _S.REQUESTED: frozenset({_S.PROVISIONING, _S.DRAINING, _S.FAILED}),
    _S.PROVISIONING: frozenset({_S.STARTING, _S.DRAINING, _S.FAILED}),
    _S.STARTING: frozenset({_S.WARM, _S.DRAINING, _S.FAILED}),
    _S.WARM: frozenset({_S.BUSY, _S.DRAINING, _S.LOST}),
    _S.BUSY: frozenset({_S.WARM, _S.DRAINING, _S.LOST}),
    _S.DRAINING: frozenset({_S.STOPPED, _S.LOST}),
    _S.STOPPED: frozenset(),
    _S.FAILED: frozenset(),
    _S.LOST: frozenset(),
}

ON_THE_WAY = frozenset({_S.REQUESTED, _S.PROVISIONING, _S.STARTING})
READY = frozenset({_S.WARM, _S.BUSY})
OVER = frozenset({_S.STOPPED, _S.FAILED, _S.LOST})


class Origin(StrEnum):
    """The reason why a machine was started."""

    DEMAND = "demand"
    """Jobs waited for it."""
    REQUEST = "request"
    """Somebody asked for it by RequestMachine."""
    SCHEDULE = "schedule"
    """The keep-warm schedule wanted it."""
    ADOPTED = "adopted"
    """It was found at the provider with our name and token, but not in the record."""


@dataclass(frozen=True)
class Inventory:
    """An executor's report on the machine that it runs on."""

    device: str = ""
    device_title: str = ""
    architecture: str = ""
    memory_mib: int = 0
    compute_units: int = 0
    sandbox: str = ""
    signing_public_key: str = ""
    details: str = ""
    """The executor's Inventory message as JSON with sorted keys. The pool passes it on and decides nothing by it."""
    address: str = ""
    """Its IPv4 address for the other machines of the pool; empty if none reaches it."""


@dataclass(frozen=True)
class Halt:
    """Why a machine is stopped at once. `exit_status` is its executor's; `rented` is false if it never was rented."""

    reason: str
    fault: Fault = Fault.NONE
    exit_status: int | None = None
    rented: bool = True


@dataclass(frozen=True)
class Machine:
    """A machine. `revision` grows with every change, and a change applies only to the revision that it was decided on.

    `occupied` is described in `vocabulary/slots.py`. `reservation_ids` has the reservation of each lease that a
    reservation has, in the order of the leases. `fencing_token` is that of the newest lease. `idle` is the time
    spent WARM before `state_time`, the moment at which the present state began. `keep_idle` is how long it is to be
    kept idle: the longest time that a job since it was last idle asked for, None if one asked for nothing special. Cost
    accrues from `provision_time` to `release_time`, by the tariff, if the machine is `rented`; it is not if its
    provider never made it. `backend`, `region` and `spot` are as ordered, in the provider's terms; `origin` is the
    reason for the start, and `own_job_id` the job that wants a new machine, if it was started for one. `resource_name`
    is the name of the order at the provider, and `resource_id` the provider's own id of the result. If the machine
    ended badly, `fault` says why, and `exit_status` is its executor's.
    """

    machine_id: str
    provider: str
    gpu_type: str
    gpu_count: int
    token: str
    price_micros_per_hour: int
    create_time: datetime
    state_time: datetime
    minimum_billed: timedelta = timedelta(0)
    billing_increment: timedelta = MICROSECOND
    backend: str = ""
    region: str = ""
    spot: bool = False
    max_price_micros_per_hour: int = 0
    max_duration: timedelta = timedelta(0)
    origin: Origin = Origin.DEMAND
    request_id: str = ""
    own_job_id: str = ""
    resource_name: str = ""
    resource_id: str = ""
    rented: bool = True
    fault: Fault = Fault.NONE
    exit_status: int | None = None
    state: MachineState = MachineState.REQUESTED
    revision: int = 1
    reason: str = ""
    provider_stage: str = ""
    endpoint: str = ""
    inventory: Inventory = field(default_factory=Inventory)
    occupied: tuple[int, ...] = (0,)
    reservation_ids: tuple[str, ...] = ()
    fencing_token: int = 0
    jobs_run: int = 0
    idle: timedelta = timedelta(0)
    keep_idle: timedelta | None = None
    provision_time: datetime | None = None
    ready_time: datetime | None = None
    last_used_time: datetime | None = None
    end_time: datetime | None = None
    release_time: datetime | None = None

    def provision(self, now: datetime) -> Machine:
        """Mark it PROVISIONING: the provider has been asked for it, and cost begins."""
        return replace(self._moved(_S.PROVISIONING, now, "the provider is making it"), provision_time=now)

    def progress(self, stage: str) -> Machine:
        """Record another stage of the provider's work on it."""
        return replace(self, provider_stage=stage)

    def start(self, now: datetime, endpoint: str) -> Machine:
        """Mark it STARTING: it runs, and its executor will answer at `endpoint`."""
        return replace(self._moved(_S.STARTING, now, "its executor is starting"), endpoint=endpoint)

    def join(self, now: datetime, inventory: Inventory) -> Machine:
        """Mark it WARM: its executor has answered for the first time."""
        return replace(self._moved(_S.WARM, now, "ready"), inventory=inventory, ready_time=now, last_used_time=now)

    def take_stock(self, inventory: Inventory) -> Machine:
        """Replace its inventory by a newer report of its executor."""
        return replace(self, inventory=inventory)

    def lease(
        self, now: datetime, taken: Sequence[Slot], keep_idle: timedelta | None = None, reservation_id: str = ""
    ) -> Machine:
        """Give slots to a job, or to a reservation, with the next fencing token.

        Raises IllegalMoveError unless it is ready.

        `keep_idle` is how long the job wants it kept idle afterwards. It has no say over what others want who use it in
        the same busy time.
        """
        state = _S.BUSY if self.state is _S.WARM else self.state
        if self.state not in READY:
            raise IllegalMoveError(self.machine_id, self.state, _S.BUSY)
        moved = self._moved(state, now, "a job holds a lease") if state is not self.state else self
        return replace(
            moved,
            occupied=slots.taken(self.occupied, taken),
            reservation_ids=(*self.reservation_ids, reservation_id) if reservation_id else self.reservation_ids,
            fencing_token=self.fencing_token + 1,
            keep_idle=keep_idle if self.state is _S.WARM else _longer(self.keep_idle, keep_idle),
            last_used_time=now,
        )

    def unlease(
        self, now: datetime, freed: Sequence[Slot], reason: str, *, served: bool = True, reservation_id: str = ""
    ) -> Machine:
        """Take a lease's slots back. A busy machine turns warm with its last slot; a draining one keeps draining.

        A lease that was not `served`, because the machine took no runs, does not count in `jobs_run`.
        """
        occupied = slots.freed(self.occupied, freed)
        moved = self._moved(_S.WARM, now, reason) if self.state is _S.BUSY and not any(occupied) else self
        return replace(
            moved,
            occupied=occupied,
            reservation_ids=_without(self.reservation_ids, reservation_id),
            jobs_run=self.jobs_run + served,
            last_used_time=now,
        )

    def keep(self, now: datetime) -> Machine:
        """Restart its idle time, because somebody asked for it."""
        return replace(self, last_used_time=now, keep_idle=None, reason="asked for")

    def drain(self, now: datetime, reason: str) -> Machine:
        """Mark it DRAINING: it takes no new lease, and stops when the last one ends."""
        return self._moved(_S.DRAINING, now, reason)

    def turn_unfit(self, now: datetime, reason: str) -> Machine:
        """Drain it, because its executor takes no more runs for this reason."""
        return replace(self.drain(now, f"unfit: {reason}"), fault=Fault.UNFIT)

    def halt(self, now: datetime, halt: Halt) -> Machine:
        """Drain it and free all its slots, so that it stops at once. It may be draining already."""
        moved = self if self.state is _S.DRAINING else self._moved(_S.DRAINING, now, halt.reason)
        return replace(
            moved,
            occupied=(0,) * self.gpu_count,
            reservation_ids=(),
            reason=halt.reason,
            fault=halt.fault or self.fault,
            exit_status=halt.exit_status,
            rented=self.rented and halt.rented,
        )

    def stop(self, now: datetime) -> Machine:
        """Mark it STOPPED: it is drained and released."""
        return replace(self._ended(_S.STOPPED, now, self.reason), release_time=now)

    def come_through(self) -> Machine:
        """Record that the provider has it, although it did not say so in time. It costs money from its order on."""
        return replace(self, provision_time=self.provision_time or self.create_time, rented=True)

    def fail(
        self, now: datetime, reason: str, fault: Fault, exit_status: int | None = None, *, rented: bool = True
    ) -> Machine:
        """Mark it FAILED: it never became ready. If it was not even `rented`, it costs nothing."""
        failed = self._ended(_S.FAILED, now, reason)
        return replace(failed, fault=fault, exit_status=exit_status, rented=rented)

    def lose(self, now: datetime, reason: str, fault: Fault, exit_status: int | None = None) -> Machine:
        """Mark it LOST: it stopped answering, and all its leases are over."""
        return replace(self._ended(_S.LOST, now, reason), fault=fault, exit_status=exit_status)

    def release(self, now: datetime) -> Machine:
        """Record that the provider has taken back a failed or lost machine, which ends its cost."""
        return replace(self, release_time=now)

    def idle_until(self, now: datetime) -> timedelta:
        """The total time that it was ready and had nothing to do."""
        return self.idle + (now - self.state_time if self.state is _S.WARM else timedelta(0))

    @property
    def is_unused(self) -> bool:
        """True if it has never had a lease."""
        return not self.fencing_token

    @property
    def leased_share(self) -> float:
        """The share of its GPUs' eighths that leases hold."""
        return sum(gpu.bit_count() for gpu in self.occupied) / (slots.EIGHTHS_PER_GPU * self.gpu_count)

    def is_expired(self, now: datetime) -> bool:
        """True if it has reached its longest life, counted from its order."""
        if not self.max_duration or self.provision_time is None:
            return False
        return now - self.provision_time >= self.max_duration

    @property
    def life_end(self) -> datetime | None:
        """The time at which it reaches its longest life, counted from its order; None if there is no limit."""
        return (self.provision_time or self.create_time) + self.max_duration if self.max_duration else None

    def lasts_until(self, end: datetime) -> bool:
        """True if it does not reach its longest life before `end`."""
        return self.life_end is None or end <= self.life_end

    @property
    def tariff(self) -> Tariff:
        """Its provider's price and billing rules."""
        return Tariff(self.price_micros_per_hour, self.minimum_billed, self.billing_increment)

    def cost_until(self, now: datetime) -> int:
        """Its cost until `now`, in micro-dollars."""
        if self.provision_time is None or not self.rented:
            return 0
        return self.tariff.cost_micros((self.release_time or now) - self.provision_time)

    def _ended(self, state: MachineState, now: datetime, reason: str) -> Machine:
        free = (0,) * self.gpu_count
        return replace(self._moved(state, now, reason), occupied=free, reservation_ids=(), end_time=now)

    def _moved(self, state: MachineState, now: datetime, reason: str) -> Machine:
        if state not in LEGAL_MOVES[self.state]:
            raise IllegalMoveError(f"Machine {self.machine_id!r}", self.state, state)
        return replace(self, state=state, state_time=now, idle=self.idle_until(now), reason=reason, provider_stage="")


def _without(ids: tuple[str, ...], one: str) -> tuple[str, ...]:
    """The ids with one less of these; all if it is not among them."""
    if one not in ids:
        return ids
    place = ids.index(one)
    return ids[:place] + ids[place + 1 :]


def _longer(one: timedelta | None, other: timedelta | None) -> timedelta | None:
    return None if one is None or other is None else max(one, other)
