"""Which machines a job of several is to get, and from when on; pure.

It gets all of them at one instant, or none: nobody ever has a part of what it takes and waits for the rest. Until that
instant its machines are kept for it, as room is for a large job (decisions/0022), and the rest of the time on them goes
to whoever ends by then.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime


class WholeMachine(NamedTuple):
    """A machine that has enough GPUs. All of them are free from `free_time` on at the latest."""

    machine_id: str
    site: tuple[str, ...]
    """Where it is, as far as its provider says: machines of one site are nearer to each other."""
    free_time: datetime
    is_there: bool = True
    """False while it is being started."""


class GangSeat(NamedTuple):
    """The machines that a job is to get, those alone that are there, and from when on, if no more have to come."""

    job_id: str
    machine_ids: tuple[str, ...]
    begin: datetime
    is_whole: bool
    """True if all its machines are there."""


def gang_seat(job_id: str, number: int, machines: Sequence[WholeMachine], now: datetime) -> GangSeat:
    """The `number` machines that are free first, of one site if one has so many.

    Nothing is kept if fewer are there or on their way: nobody knows when the others come, if ever.
    """
    chosen = min(
        (first for first in _first_of_sites(number, machines) if len(first) == number),
        key=lambda first: first[-1].free_time,
        default=_first(number, machines),
    )
    if len(chosen) < number:
        return GangSeat(job_id, (), now, is_whole=False)
    there = tuple(sorted(one.machine_id for one in chosen if one.is_there))
    return GangSeat(job_id, there, chosen[-1].free_time, len(there) == number)


def _first_of_sites(number: int, machines: Iterable[WholeMachine]) -> list[list[WholeMachine]]:
    by_site: defaultdict[tuple[str, ...], list[WholeMachine]] = defaultdict(list)
    for one in machines:
        by_site[one.site].append(one)
    return [_first(number, by_site[site]) for site in sorted(by_site)]


def _first(number: int, machines: Iterable[WholeMachine]) -> list[WholeMachine]:
    return sorted(machines, key=lambda one: (one.free_time, not one.is_there, one.machine_id))[:number]
