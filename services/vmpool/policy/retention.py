"""How long an idle machine stays: for its idle timeout, and for as long as it is paid for in any case.

The idle timeout is that of the machine that was used last. Leases go to the most recently used machine, so each further
idle one is less likely to be used again than the one before it, and stays a share of the time that that one does:
`benchmarks/pool_policy.py` shows what this saves.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from services.vmpool.machines.machine import Machine


@dataclass(frozen=True)
class Retention:
    """`idle_timeouts` are by GPU type, `idle_timeout` is for the others.

    `surplus_share` is from 0 to 1: at 1 all idle machines stay alike, at 0 none but the one that was used last.
    `release_margin` is the time that a release may take to end the bill.
    """

    idle_timeout: timedelta
    idle_timeouts: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])
    surplus_share: float = 0.5
    release_margin: timedelta = timedelta(seconds=60)

    def timeout_of(self, gpu_type: str, rank: int = 0) -> timedelta:
        """How long a machine is kept with nothing to do that comes after `rank` others of its type."""
        return self.idle_timeouts.get(gpu_type, self.idle_timeout) * self.surplus_share**rank

    def release_times(self, idle: Iterable[Machine], now: datetime) -> Mapping[str, datetime]:
        """By machine id, when machines that are idle from now on are to go, each not inside of paid-for time."""
        ranks: Counter[str] = Counter()
        times: dict[str, datetime] = {}
        for machine in latest_first(idle):
            times[machine.machine_id] = self._release_time(machine, ranks[machine.gpu_type], now)
            ranks[machine.gpu_type] += 1
        return times

    def _release_time(self, machine: Machine, rank: int, now: datetime) -> datetime:
        idle_out = idle_since(machine) + self.timeout_of(machine.gpu_type, rank)
        return max(idle_out, paid_until(machine, max(idle_out, now)) - self.release_margin)


def latest_first(idle: Iterable[Machine]) -> Sequence[Machine]:
    """Machines from the last used to the longest idle."""
    return sorted(idle, key=lambda machine: (idle_since(machine), machine.machine_id), reverse=True)


def idle_since(machine: Machine) -> datetime:
    """When an idle machine was last of use."""
    return machine.last_used_time or machine.create_time


def paid_until(machine: Machine, now: datetime) -> datetime:
    """The end of what is billed whether it stays or goes at `now`; `now` where it is free or not billed yet."""
    if machine.provision_time is None or not machine.price_micros_per_hour:
        return now
    return max(now, machine.provision_time + machine.tariff.billed(now - machine.provision_time))
