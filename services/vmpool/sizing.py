"""How many machines there should be: a pure function of what waits, what there is, and the limits.

Waiting work is packed into the free slots of ready machines, then into machines on their way; what is left over starts
new ones, up to the limit. With nothing waiting an idle machine is kept for the idle timeout and then released, so that
the pool shrinks to none. At the limit, an idle machine of a type that nobody waits for gives way to one that is waited
for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool import slot as slots
from services.vmpool.errors import InvalidFieldError
from services.vmpool.machine import ON_THE_WAY, READY, MachineState
from services.vmpool.order_checks import check_gpu_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from services.vmpool.machine import Machine

FIRST_BACKOFF = timedelta(seconds=2)
LONGEST_BACKOFF = timedelta(minutes=5)


@dataclass(frozen=True)
class Demand:
    """`jobs` waiting jobs that each want `eighths` of a GPU of that type."""

    gpu_type: str
    eighths: int
    jobs: int


@dataclass(frozen=True)
class Limits:
    """What the pool may do; `gpu_count` is that of the machines it starts."""

    max_machines: int
    idle_timeout: timedelta
    gpu_count: int = 1


@dataclass(frozen=True)
class Failures:
    """How many starts of one GPU type failed in a row, when the last one did, and why."""

    count: int
    last_time: datetime
    reason: str

    @property
    def retry_time(self) -> datetime:
        """When the next start is worth a try."""
        doublings = min(self.count - 1, 16)
        return self.last_time + min(FIRST_BACKOFF * 2**doublings, LONGEST_BACKOFF)


@dataclass(frozen=True)
class Plan:
    """GPU types to start a machine for, idle machines to release, and why demand goes unmet where it does."""

    start: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    blocked_reason: str = ""


@dataclass(frozen=True)
class Pool:
    """What sizing looks at: machines that are not over, and failed starts by GPU type."""

    machines: Sequence[Machine]
    failures: Mapping[str, Failures]


def machines_wanted(demands: Sequence[Demand], pool: Pool, limits: Limits, now: datetime) -> Plan:
    """What to start and what to release now."""
    wanted = _unmet(demands, pool.machines, limits)
    backing_off = {t: f for t, f in pool.failures.items() if now < f.retry_time}
    startable = [gpu_type for gpu_type in wanted if gpu_type not in backing_off]
    room = max(0, limits.max_machines - len(pool.machines))
    waiting_types = {demand.gpu_type for demand in demands if demand.jobs > 0}
    idle = sorted(
        (m for m in pool.machines if m.state is MachineState.WARM and m.gpu_type not in waiting_types),
        key=lambda machine: machine.last_used_time or machine.create_time,
    )
    too_many = len(startable) - room
    giving_way = idle[: max(0, too_many)]
    timed_out = [m for m in idle if now - (m.last_used_time or m.create_time) >= limits.idle_timeout]
    release = dict.fromkeys(machine.machine_id for machine in (*giving_way, *timed_out))
    return Plan(tuple(startable[:room]), tuple(release), _blocked(wanted, backing_off, too_many, limits))


def check_demand(demand: Demand, gpu_types: Sequence[str]) -> Demand:
    """The demand, or a refusal that names the field and the legal values."""
    check_gpu_type(demand.gpu_type, gpu_types, "demands.gpu_type")
    slots.check_eighths(demand.eighths)
    if demand.jobs < 0:
        raise InvalidFieldError("demands.jobs", f"must not be negative; it is {demand.jobs}")
    return demand


def _unmet(demands: Sequence[Demand], machines: Sequence[Machine], limits: Limits) -> list[str]:
    """The GPU types of the machines that the waiting work needs beside those that there are."""
    bins = [(m.gpu_type, m.occupied) for m in machines if m.state in READY | ON_THE_WAY]
    wanted: list[str] = []
    for demand in sorted(demands, key=lambda demand: -demand.eighths):
        for _ in range(demand.jobs):
            if _pack(bins, demand):
                continue
            # One more than the limit shows that there is more to do; how much more changes nothing.
            if len(wanted) > limits.max_machines:
                break
            wanted.append(demand.gpu_type)
            bins.append((demand.gpu_type, (0,) * limits.gpu_count))
            _pack(bins, demand)
    return wanted


def _pack(bins: list[tuple[str, tuple[int, ...]]], demand: Demand) -> bool:
    for index, (gpu_type, occupied) in enumerate(bins):
        slot = slots.free_slot(occupied, demand.eighths) if gpu_type == demand.gpu_type else None
        if slot is not None:
            bins[index] = (gpu_type, slots.taken(occupied, slot))
            return True
    return False


def _blocked(wanted: Sequence[str], backing_off: Mapping[str, Failures], too_many: int, limits: Limits) -> str:
    for gpu_type in wanted:
        if failures := backing_off.get(gpu_type):
            return f"{failures.count} starts of {gpu_type} failed in a row, the last one because {failures.reason}"
    return f"the limit of {limits.max_machines} machines is reached" if too_many > 0 else ""
