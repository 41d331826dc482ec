"""Failed starts: when to try again, and when to rent no more until an administrator says so. Pure."""

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
"""Longest back-off for faults that need the operator: another try is likely to fail too, and may cost a cloud's minimum
charge."""
_NO_FAILURE = frozenset({Fault.NONE, Fault.EXPIRED})


@dataclass(frozen=True)
class Failures:
    """Starts from one source that failed in a row for the same fault: their number, and the last one's time and reason.

    `wasted` is the number of machines since the last success that cost money and were of no use, whatever failed
    between them. `is_stopped` says that this number has reached the limit, and no more are rented from the source.
    """

    count: int
    last_time: datetime
    reason: str
    fault: Fault = Fault.PROVIDER
    wasted: int = 0
    is_stopped: bool = False

    @property
    def retry_time(self) -> datetime:
        """Time at which the next start is worth a try, unless the operator acts before."""
        backoff = Backoff(FIRST_BACKOFF, LONGEST_BACKOFF)
        if self.wants_operator:
            backoff = Backoff(FIRST_SETTINGS_BACKOFF, LONGEST_SETTINGS_BACKOFF)
        return self.last_time + backoff.pause(self.count)

    @property
    def wants_operator(self) -> bool:
        """True if a retry is unlikely to help."""
        return self.is_stopped or self.fault in WANTS_OPERATOR

    def outlook(self, now: datetime) -> str:
        """Text with the failure, in the provider's own words, and the next step."""
        if self.is_stopped:
            return (
                f"{self.reason}; {self.wasted} machines in a row cost money and ran nothing (VMPOOL_UNFIT_LIMIT), so "
                "no more are rented until an administrator fixes the cause and runs `wavepool machines resume`"
            )
        times = f" ({self.count} times in a row)" if self.count > 1 else ""
        seconds = max(0.0, (self.retry_time - now).total_seconds())
        sooner = ", or once `wavepool doctor` finds no fault of the provider" if self.wants_operator else ""
        return f"{self.reason}{times}; tried again in {seconds:.0f} s, at {self.retry_time:%H:%M:%S} UTC{sooner}"


def failures_in_a_row(
    starts: Sequence[Machine], resumed: Mapping[Source, datetime] | None = None
) -> dict[Source, Failures]:
    """Failures by source, since its last successful start and since it was last resumed.

    Starts are in the order in which they succeeded or failed, not in the order in which they began. A new fault begins
    the count again, because the cause has changed; a fault that comes back continues its own count.

    A machine that ended badly before its first job counts as failed. Otherwise such machines would be bought one after
    another.
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

    A source that wasted `unfit_limit` machines in a row is left alone, whatever else is known; a limit of 0 sets none.
    `start_time` is the pool's: older faults of the settings no longer count. `found_well` has the time by provider at
    which it was last examined and found well: its older faults no longer count.
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
    """Number of machines that may still be started at sources that wasted some, besides those on their way.

    Without this limit, many waiting jobs would rent many machines before the first is known to be of no use.
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
    """Time at which a source's pause begins: the release, which may outlast the pause and takes up room until then.

    For a fault of the settings it is the end instead, because the settings may be corrected in between.
    """
    ended = machine.end_time or machine.state_time
    return ended if machine.fault in WANTS_OPERATOR else machine.release_time or ended
