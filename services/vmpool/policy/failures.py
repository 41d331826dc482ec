"""Starts that failed, and when the next one is worth a try."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.fault import WANTS_OPERATOR, Fault
from services.vmpool.machines.offer import Source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from services.vmpool.machines.machine import Machine

FIRST_BACKOFF = timedelta(seconds=2)
LONGEST_BACKOFF = timedelta(minutes=5)
_MOST_DOUBLINGS = 16


@dataclass(frozen=True)
class Failures:
    """How many starts from one source failed in a row, when the last one did, and why."""

    count: int
    last_time: datetime
    reason: str
    fault: Fault = Fault.PROVIDER

    @property
    def retry_time(self) -> datetime:
        """When the next start is worth a try, unless the operator has to act first."""
        doublings = min(self.count - 1, _MOST_DOUBLINGS)
        return self.last_time + min(FIRST_BACKOFF * 2**doublings, LONGEST_BACKOFF)

    @property
    def wants_operator(self) -> bool:
        """No retry can mend it."""
        return self.fault in WANTS_OPERATOR

    def outlook(self, now: datetime) -> str:
        """What failed, in the provider's own words, and what comes next."""
        times = f" ({self.count} times in a row)" if self.count > 1 else ""
        if self.wants_operator:
            return f"{self.reason}{times}; not tried again until the settings are mended and vmpool is restarted"
        return f"{self.reason}{times}; tried again in {max(0.0, (self.retry_time - now).total_seconds()):.0f} s"


def failures_in_a_row(newest_first: Sequence[Machine]) -> dict[Source, Failures]:
    """By source, the starts that failed since the last one that succeeded.

    A machine that ended badly before its first job was of no use: it counts as failed, for else such machines would be
    bought one after another.
    """
    failures: dict[Source, Failures] = {}
    succeeded: set[Source] = set()
    for machine in newest_first:
        source = Source(machine.provider, machine.backend, machine.gpu_type)
        if machine.ready_time is not None and (machine.jobs_run or not machine.fault):
            succeeded.add(source)
        elif source not in succeeded:
            last = Failures(0, machine.end_time or machine.state_time, machine.reason, machine.fault)
            known = failures.get(source, last)
            failures[source] = replace(known, count=known.count + 1)
    return failures


def resting_sources(
    failures: Mapping[Source, Failures], pool_start_time: datetime, now: datetime
) -> dict[Source, Failures]:
    """The sources to leave alone now. A fault of the settings holds until vmpool starts anew, with other ones."""
    return {
        source: failed
        for source, failed in failures.items()
        if (failed.last_time >= pool_start_time if failed.wants_operator else now < failed.retry_time)
    }
