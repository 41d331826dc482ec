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
FIRST_SETTINGS_BACKOFF = timedelta(minutes=10)
LONGEST_SETTINGS_BACKOFF = timedelta(hours=6)
"""Of faults that want the operator: another try is likely to fail too, and may cost what a cloud bills at least."""
_MOST_DOUBLINGS = 16
_NO_FAILURE = frozenset({Fault.NONE, Fault.EXPIRED})


@dataclass(frozen=True)
class Failures:
    """How many starts from one source failed in a row for the same fault, when the last one did, and why."""

    count: int
    last_time: datetime
    reason: str
    fault: Fault = Fault.PROVIDER

    @property
    def retry_time(self) -> datetime:
        """When the next start is worth a try, unless the operator acts before."""
        first, longest = FIRST_BACKOFF, LONGEST_BACKOFF
        if self.wants_operator:
            first, longest = FIRST_SETTINGS_BACKOFF, LONGEST_SETTINGS_BACKOFF
        return self.last_time + min(first * 2 ** min(self.count - 1, _MOST_DOUBLINGS), longest)

    @property
    def wants_operator(self) -> bool:
        """A retry is not likely to mend it."""
        return self.fault in WANTS_OPERATOR

    def outlook(self, now: datetime) -> str:
        """What failed, in the provider's own words, and what comes next."""
        times = f" ({self.count} times in a row)" if self.count > 1 else ""
        seconds = max(0.0, (self.retry_time - now).total_seconds())
        sooner = ", or once `wavepool doctor` finds the provider well" if self.wants_operator else ""
        return f"{self.reason}{times}; tried again in {seconds:.0f} s, at {self.retry_time:%H:%M:%S} UTC{sooner}"


def failures_in_a_row(starts: Sequence[Machine]) -> dict[Source, Failures]:
    """By source, the starts that failed since the last one that succeeded.

    What counts is when a start succeeded or failed, not when it began. A new fault begins the count again, because the
    cause has changed; one that comes back goes on from its own count.

    A machine that ended badly before its first job was of no use: it counts as failed, for else such machines would be
    bought one after another.
    """
    failures: dict[Source, Failures] = {}
    succeeded: set[Source] = set()
    for machine in sorted(starts, key=_outcome_time, reverse=True):
        source = Source(machine.provider, machine.backend, machine.gpu_type)
        if _has_succeeded(machine):
            succeeded.add(source)
        elif source not in succeeded:
            last = failures.get(source) or Failures(0, _failure_time(machine), machine.reason, machine.fault)
            failures[source] = replace(last, count=last.count + 1) if machine.fault is last.fault else last
    return failures


def resting_sources(
    failures: Mapping[Source, Failures], start_time: datetime, found_well: Mapping[str, datetime], now: datetime
) -> dict[Source, Failures]:
    """The sources to leave alone now.

    `start_time` is the pool's: faults of the settings hold no more if they are older. `found_well` tells by provider
    when somebody last looked at it and found nothing wrong, after which none of its older faults holds.
    """

    def rests(source: Source, failed: Failures) -> bool:
        mended_times = [found_well[source.provider]] if source.provider in found_well else []
        mended_times += [start_time] if failed.wants_operator else []
        return now < failed.retry_time and not any(failed.last_time < time for time in mended_times)

    return {source: failed for source, failed in failures.items() if rests(source, failed)}


def _has_succeeded(machine: Machine) -> bool:
    return machine.ready_time is not None and bool(machine.jobs_run or machine.fault in _NO_FAILURE)


def _outcome_time(machine: Machine) -> datetime:
    if machine.ready_time is not None and _has_succeeded(machine):
        return machine.ready_time
    return machine.end_time or machine.state_time


def _failure_time(machine: Machine) -> datetime:
    """A source's rest begins with the release, which may take longer than the rest and keeps room from others.

    Not after a fault of the settings, which may be mended in between.
    """
    ended = machine.end_time or machine.state_time
    return ended if machine.fault in WANTS_OPERATOR else machine.release_time or ended
