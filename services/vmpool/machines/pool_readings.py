"""The readings of the pool for alerts: how busy its machines are, which failed, and what cannot be had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.vmpool.fault import Fault
from services.vmpool.machines.load import MeanLoad
from services.vmpool.machines.machine import READY, Machine
from vocabulary import readings
from vocabulary.readings import Reading

NO_FAILURE = frozenset({Fault.NONE, Fault.EXPIRED, Fault.NO_CAPACITY})
"""Ends that are no failure of a machine: nothing was wrong, its time was over, or it never was."""
MOST_CHARACTERS = 200
"""Limit of a text in a reading."""


@dataclass(frozen=True)
class UnmetDemand:
    """Jobs that wait for a GPU type, and why the pool starts nothing for them; empty if it does or need not."""

    gpu_type: str
    jobs: int
    reason: str


def machine_readings(
    machines: Iterable[Machine], loads: Mapping[str, MeanLoad], window: timedelta, now: datetime
) -> Iterator[Reading]:
    """How busy each ready machine is; use over the window only of machines that were ready for all of it."""
    for machine in machines:
        load = loads.get(machine.machine_id)
        if machine.state not in READY or load is None:
            continue
        is_settled = machine.ready_time is not None and now - machine.ready_time >= window
        labels = {"machine": machine.machine_id}
        details = {"provider": machine.provider, "gpu": machine.gpu_type}
        for name, share in (
            (readings.MACHINE_CPU, load.cpu_share),
            (readings.MACHINE_MEMORY, load.memory_share),
            (readings.MACHINE_GPU, load.gpu_share if is_settled else None),
            (readings.MACHINE_LEASED, load.leased_share if is_settled else None),
        ):
            if share is not None:
                yield Reading(name, share, labels, details | {"percent": f"{share:.0%}"})


def failure_readings(providers: Iterable[str], ended: Sequence[Machine]) -> Iterator[Reading]:
    """How many machines of each provider ended by a fault; `ended` are those of the window."""
    failed = [machine for machine in ended if machine.fault not in NO_FAILURE]
    counts = Counter(machine.provider for machine in failed)
    # The last one's reason is told.
    last = {machine.provider: machine for machine in sorted(failed, key=_end)}
    for provider in sorted({*providers, *counts}):
        details = {"machine": "", "reason": ""}
        if provider in last:
            details = {"machine": last[provider].machine_id, "reason": _text(last[provider].reason)}
        yield Reading(readings.FAILED_MACHINES, float(counts[provider]), {"provider": provider}, details)


def demand_readings(unmet: Iterable[UnmetDemand]) -> Iterator[Reading]:
    """How many jobs wait for each GPU type for which the pool can start nothing."""
    jobs: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for one in unmet:
        jobs[one.gpu_type] += one.jobs if one.reason else 0
        reasons[one.gpu_type] = reasons.get(one.gpu_type) or one.reason
    for gpu_type, count in sorted(jobs.items()):
        yield Reading(readings.UNMET_DEMAND, float(count), {"gpu_type": gpu_type}, {"reason": _text(reasons[gpu_type])})


def stopped_reading(sources: Iterable[object]) -> Reading:
    """How many sources nothing is rented from."""
    names = [str(source) for source in sources]
    return Reading(readings.STOPPED_SOURCES, float(len(names)), {}, {"sources": _text(", ".join(names))})


def _end(machine: Machine) -> datetime:
    return machine.end_time or machine.state_time


def _text(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)[:MOST_CHARACTERS]
