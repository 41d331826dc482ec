"""How long an idle machine stays: for the idle timeout, and for as long as it is paid for in any case."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from services.vmpool.machine import Machine


@dataclass(frozen=True)
class Retention:
    """`idle_timeouts` are by GPU type, `idle_timeout` is for the others.

    `release_margin` is the time that a release may take to end the bill.
    """

    idle_timeout: timedelta
    idle_timeouts: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])
    release_margin: timedelta = timedelta(seconds=60)

    def timeout_of(self, gpu_type: str) -> timedelta:
        """How long a machine of that type is kept with nothing to do."""
        return self.idle_timeouts.get(gpu_type, self.idle_timeout)

    def release_time(self, machine: Machine, now: datetime) -> datetime:
        """When the machine, idle from now on, is to go: not before its idle timeout nor inside of paid-for time."""
        idle_out = idle_since(machine) + self.timeout_of(machine.gpu_type)
        moment = max(idle_out, now)
        return max(idle_out, paid_until(machine, moment) - self.release_margin)


def idle_since(machine: Machine) -> datetime:
    """When an idle machine was last of use."""
    return machine.last_used_time or machine.create_time


def paid_until(machine: Machine, now: datetime) -> datetime:
    """The end of what is billed whether it stays or goes at `now`; `now` where it is free or not billed yet."""
    if machine.provision_time is None or not machine.price_micros_per_hour:
        return now
    return max(now, machine.provision_time + machine.tariff.billed(now - machine.provision_time))
