"""Starts that failed, when the next one is worth a try, and when no more is rented until somebody says so. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from services.vmpool.fault import OF_NO_USE, WANTS_OPERATOR, Fault
from services.vmpool.machines.machine import ON_THE_WAY
from services.vmpool.machines.offer import Source
from vocabulary.backoff import Backoff

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from services.vmpool.machines.machine import Machine

FIRST_BACKOFF = timedelta(seconds=2)
LONGEST_BACKOFF = timedelta(minutes=5)
FIRST_SETTINGS_BACKOFF = timedelta(minutes=10)
LONGEST_SETTINGS_BACKOFF = timedelta(hours=6)
"""Of faults that want the operator: another try is likely to fail too, and may cost what a cloud bills at least."""
_NO_FAILURE = frozenset({Fault.NONE, Fault.EXPIRED})


@dataclass(frozen=True)
class Failures:
    """How many starts from one source failed in a row for the same fault, when the last one did, and why.

    `wasted` of the machines since the last success, whatever failed between them, cost money and were of no use.
    `is_stopped` says that these are as many as there may be: no more are rented from the source.
    """

    count: int
    last_time: datetime
    reason: str
    fault: Fault = Fault.PROVIDER
    wasted: int = 0
    is_stopped: bool = False

    @property
    def retry_time(self) -> datetime:
        """When the next start is worth a try, unless the operator acts before."""
        backoff = Backoff(FIRST_BACKOFF, LONGEST_BACKOFF)
        if self.wants_operator:
            backoff = Backoff(FIRST_SETTINGS_BACKOFF, LONGEST_SETTINGS_BACKOFF)
        return self.last_time + backoff.pause(self.count)

    @property
    def wants_operator(self) -> bool:
        """A retry is not likely to mend it."""
        return self.is_stopped or self.fault in WANTS_OPERATOR

    def outlook(self, now: datetime) -> str:
        """What failed, in the provider's own words, and what comes next."""
        if self.is_stopped:
            return (
                f"{self.reason}; {self.wasted} machines in a row cost money and ran nothing (VMPOOL_UNFIT_LIMIT), so "
                "no more are rented until an administrator mends what is wrong and gives `wavepool machines resume`"
            )
        times = f" ({self.count} times in a row)" if self.count > 1 else ""
        seconds = max(0.0, (self.retry_time - now).total_seconds())
        sooner = ", or once `wavepool doctor` finds the provider well" if self.wants_operator else ""
        return f"{self.reason}{times}; tried again in {seconds:.0f} s, at {self.retry_time:%H:%M:%S} UTC{sooner}"


def failures_in_a_row(
    starts: Sequence[Machine], resumed: Mapping[Source, datetime] | None = None
) -> dict[Source, Failures]:
    """By source, the starts that failed since the last one that succeeded, and since it was last resumed.

    What counts is when a start succeeded or failed, not when it began. A new fault begins the count again, because the
    cause has changed; one that comes back goes on from its own count.

    A machine that ended badly before its first job was of no use: it counts as failed, for else such machines would be
    bought one after another.
    """
    failures: dict[Source, Failures] = {}
    succeeded: set[Source] = set()
    for machine in sorted(starts, key=_outcome_time, reverse=True):
        source = _source(machine)
        if _has_succeeded(machine):
            succeeded.add(source)
        elif source not in succeeded and not _is_forgiven(machine, (resumed or {}).get(source)):
            last = failures.get(source) or Failures(0, _failure_time(machine), machine.reason, machine.fault)
            wasted = last.wasted + _is_wasted(machine)
            failures[source] = replace(last, count=last.count + (machine.fault is last.fault), wasted=wasted)
    return failures


def sources_backing_off(
    failures: Mapping[Source, Failures],
    start_time: datetime,
    found_well: Mapping[str, datetime],
    now: datetime,
    unfit_limit: int = 0,
) -> dict[Source, Failures]:
    """The sources to leave alone now.

    One that wasted `unfit_limit` machines in a row is left alone whatever time passes and whatever else is known; a
    limit of 0 sets none. `start_time` is the pool's: faults of the settings hold no more if they are older.
    `found_well` tells by provider when somebody last looked at it and found nothing wrong, after which none of its
    older faults holds.
    """

    def is_backing_off(source: Source, failed: Failures) -> bool:
        mended_times = [found_well[source.provider]] if source.provider in found_well else []
        mended_times += [start_time] if failed.wants_operator else []
        return now < failed.retry_time and not any(failed.last_time < time for time in mended_times)

    stopped = {source for source, failed in failures.items() if 0 < unfit_limit <= failed.wasted}
    return {
        source: replace(failed, is_stopped=source in stopped)
        for source, failed in failures.items()
        if source in stopped or is_backing_off(source, failed)
    }


def trials_left(failures: Mapping[Source, Failures], present: Sequence[Machine], unfit_limit: int) -> dict[Source, int]:
    """How many machines may still be started at sources that wasted some, beside those on their way from there.

    Else many jobs that wait would have many machines rented before the first of them is known to be of no use.
    """
    on_the_way = Counter(_source(machine) for machine in present if machine.state in ON_THE_WAY)
    return {
        source: max(0, unfit_limit - failed.wasted - on_the_way[source])
        for source, failed in failures.items()
        if unfit_limit and failed.wasted
    }


def _source(machine: Machine) -> Source:
    return Source(machine.provider, machine.backend, machine.gpu_type)


def _is_forgiven(machine: Machine, resume_time: datetime | None) -> bool:
    return resume_time is not None and _outcome_time(machine) <= resume_time


def _is_wasted(machine: Machine) -> bool:
    costs = machine.rented and machine.provision_time is not None and machine.price_micros_per_hour > 0
    return costs and machine.fault in OF_NO_USE


def _has_succeeded(machine: Machine) -> bool:
    return machine.ready_time is not None and bool(machine.jobs_run or machine.fault in _NO_FAILURE)


def _outcome_time(machine: Machine) -> datetime:
    if machine.ready_time is not None and _has_succeeded(machine):
        return machine.ready_time
    return machine.end_time or machine.state_time


def _failure_time(machine: Machine) -> datetime:
    """A source's pause begins with the release, which may take longer than the pause and keeps room from others.

    Not after a fault of the settings, which may be mended in between.
    """
    ended = machine.end_time or machine.state_time
    return ended if machine.fault in WANTS_OPERATOR else machine.release_time or ended
