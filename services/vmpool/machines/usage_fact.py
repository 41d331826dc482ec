"""Reports of a machine's cost to billing: intervals without gaps, numbered from 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.vmpool.machines.machine import MachineState

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from services.vmpool.machines.machine import Machine


@dataclass(frozen=True)
class UsageFact:
    """One interval of a machine; `final` marks the last."""

    machine_id: str
    sequence: int
    start_time: datetime
    end_time: datetime
    final: bool


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
