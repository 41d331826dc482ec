"""Keeps an idle machine for its idle timeout, and for as long as it is paid for in any case.

The machine that was used last has the whole idle timeout. Leases go to the most recently used machine, so each further
idle one is less likely to be used again, and stays for a share of the time of the one before it.
`benchmarks/pool_policy.py` shows the savings. A machine whose jobs all asked for less goes earlier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from services.vmpool.machines.machine import Machine


@dataclass(frozen=True)
class Retention:
    """Rules for idle machines: `idle_timeouts` are by GPU type, `idle_timeout` is for the other types.

    `surplus_share` is from 0 to 1: at 1 all idle machines stay equally long, at 0 only the one that was used last
    stays. `release_margin` is the time that a release may take to end the bill.
    """

    idle_timeout: timedelta
    idle_timeouts: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])
    surplus_share: float = 0.5
    release_margin: timedelta = timedelta(seconds=60)

    def timeout_of(self, gpu_type: str, rank: int = 0) -> timedelta:
        """Time for which an idle machine is kept if `rank` machines of its type were used after it."""
        return self.idle_timeouts.get(gpu_type, self.idle_timeout) * self.surplus_share**rank

    def release_times(self, idle: Iterable[Machine], now: datetime) -> Mapping[str, datetime]:
        """Release times by machine id, if the machines stay idle. None of them is within paid time."""
        ranks: Counter[str] = Counter()
        times: dict[str, datetime] = {}
        for machine in latest_first(idle):
            times[machine.machine_id] = self._release_time(machine, ranks[machine.gpu_type], now)
            ranks[machine.gpu_type] += 1
        return times

    def _release_time(self, machine: Machine, rank: int, now: datetime) -> datetime:
        timeout = self.timeout_of(machine.gpu_type, rank)
        # What jobs ask for only ever shortens it: the pool's setting is what its operator pays for.
        kept = timeout if machine.keep_idle is None else min(timeout, machine.keep_idle)
        idle_out = idle_since(machine) + kept
        return max(idle_out, paid_until(machine, max(idle_out, now)) - self.release_margin)


def latest_first(idle: Iterable[Machine]) -> Sequence[Machine]:
    """Machines from the last used to the longest idle."""
    return sorted(idle, key=lambda machine: (idle_since(machine), machine.machine_id), reverse=True)


def idle_since(machine: Machine) -> datetime:
    """Time at which an idle machine was last of use."""
    return machine.last_used_time or machine.create_time


def paid_until(machine: Machine, now: datetime) -> datetime:
    """End of the billed time of a machine that goes at `now`; `now` itself if it is free or not billed yet."""
    if machine.provision_time is None or not machine.price_micros_per_hour:
        return now
    return max(now, machine.provision_time + machine.tariff.billed(now - machine.provision_time))
