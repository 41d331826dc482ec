"""Reports of a machine's cost to billing: intervals without gaps, numbered from 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.vmpool.machines.lease import Lease
from services.vmpool.machines.machine import Machine, MachineState
from vocabulary.slots import EIGHTHS_PER_GPU


@dataclass(frozen=True)
class Use:
    """A lease's share of an interval; `gpu_time` is its time times its GPUs, so half a GPU for 2 s is 1 s."""

    job_id: str
    attempt: int
    gpu_time: timedelta


@dataclass(frozen=True)
class UsageFact:
    """One interval of a machine with the use of it; `final` marks the last."""

    machine_id: str
    sequence: int
    start_time: datetime
    end_time: datetime
    final: bool
    uses: tuple[Use, ...] = ()


def next_fact(machine: Machine, last: UsageFact | None, now: datetime, interval: timedelta) -> UsageFact | None:
    """The interval that is due: an empty one at the start, then one every `interval`, and the rest after the release.

    No time is reported until the provider has placed the machine, because the price may still change. No time is
    reported at all if the provider never made it.
    """
    if machine.provision_time is None or (last is not None and last.final):
        return None
    start = last.end_time if last else machine.provision_time
    sequence = last.sequence + 1 if last else 1
    if machine.release_time is not None:
        end = max(start, machine.release_time) if machine.rented else start
        return UsageFact(machine.machine_id, sequence, start, end, final=True)
    if last is None:
        return UsageFact(machine.machine_id, sequence, start, start, final=False)
    if machine.rented and machine.state is not MachineState.PROVISIONING and now - start >= interval:
        return UsageFact(machine.machine_id, sequence, start, now, final=False)
    return None


def uses_of(leases: Iterable[Lease], start: datetime, end: datetime) -> tuple[Use, ...]:
    """The use of a machine from `start` to `end` by these leases; one that has not ended lasts until then."""
    found: list[Use] = []
    for lease in leases:
        time = min(lease.end_time or end, end) - max(lease.create_time, start)
        if time > timedelta(0):
            found.append(Use(lease.job_id, lease.attempt, time * lease.size // EIGHTHS_PER_GPU))
    return tuple(found)
