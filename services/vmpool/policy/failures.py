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
    """How many starts from one source failed in a row, when the last one did, and why."""

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
        return f"{self.reason}{times}; tried again in {seconds:.0f} s{sooner}"


def failures_in_a_row(newest_first: Sequence[Machine]) -> dict[Source, Failures]:
    """By source, the starts that failed since the last one that succeeded.

    A machine that ended badly before its first job was of no use: it counts as failed, for else such machines would be
    bought one after another.
    """
    failures: dict[Source, Failures] = {}
    succeeded: set[Source] = set()
    for machine in newest_first:
        source = Source(machine.provider, machine.backend, machine.gpu_type)
        if machine.ready_time is not None and (machine.jobs_run or machine.fault in _NO_FAILURE):
            succeeded.add(source)
        elif source not in succeeded:
            last = Failures(0, _failure_time(machine), machine.reason, machine.fault)
            known = failures.get(source, last)
            failures[source] = replace(known, count=known.count + 1)
    return failures


def resting_sources(
    failures: Mapping[Source, Failures], mended: Mapping[str, datetime], now: datetime
) -> dict[Source, Failures]:
    """The sources to leave alone now.

    `mended` tells by provider when its settings were last new or found well: older faults of them hold no more.
    """

    def rests(source: Source, failed: Failures) -> bool:
        is_mended = failed.wants_operator and source.provider in mended and failed.last_time < mended[source.provider]
        return now < failed.retry_time and not is_mended

    return {source: failed for source, failed in failures.items() if rests(source, failed)}


def _failure_time(machine: Machine) -> datetime:
    """A source's rest begins with the release, which may take longer than the rest and keeps room from others.

    Not after a fault of the settings, which may be mended in between.
    """
    ended = machine.end_time or machine.state_time
    return ended if machine.fault in WANTS_OPERATOR else machine.release_time or ended
