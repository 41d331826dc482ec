"""Which machines a job of several is to get, and from when on; pure.

It gets all of them at one instant, or none: nobody ever has a part of what it takes and waits for the rest. Until that
instant its machines are kept for it, as room is for a large job (decisions/0022), and the rest of the time on them goes
to jobs that end by then.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta


class WholeMachine(NamedTuple):
    """A machine that has enough GPUs, all of which are free from `free_time` on at the latest, but for `promised`."""

    machine_id: str
    site: tuple[str, ...]
    """Where it is, as far as its provider says: machines of one site are nearer to each other."""
    free_time: datetime
    is_there: bool = True
    """False while it is being started."""
    promised: tuple[tuple[datetime, datetime], ...] = ()
    """Half-open times in which others are to have GPUs of it."""

    def is_free(self, begin: datetime, use: timedelta) -> bool:
        """True if all its GPUs are free from `begin` on for so long."""
        return self.free_time <= begin and all(end <= begin or begin + use <= first for first, end in self.promised)


class GangSeat(NamedTuple):
    """The machines that a job is to get, those alone that are there, and from when on, if no more have to come."""

    job_id: str
    machine_ids: tuple[str, ...]
    begin: datetime
    is_whole: bool
    """True if all its machines are there."""


def gang_seat(job_id: str, number: int, machines: Sequence[WholeMachine], use: timedelta, now: datetime) -> GangSeat:
    """The `number` machines that are first free together for as long as `use`, of one site if one has so many.

    Nothing is kept if fewer are there or on their way: nobody knows when the others come, if ever.
    """
    by_site: defaultdict[tuple[str, ...], list[WholeMachine]] = defaultdict(list)
    for one in machines:
        by_site[one.site].append(one)
    groups = [by_site[site] for site in sorted(by_site) if len(by_site[site]) >= number]
    found = [_first_together(number, group, use) for group in groups or [machines] if len(group) >= number]
    if not found:
        return GangSeat(job_id, (), now, is_whole=False)
    begin, chosen = min(found, key=lambda one: one[0])
    there = tuple(sorted(one.machine_id for one in chosen if one.is_there))
    return GangSeat(job_id, there, begin, len(there) == number)


def _first_together(
    number: int, machines: Sequence[WholeMachine], use: timedelta
) -> tuple[datetime, Sequence[WholeMachine]]:
    """The first instant at which so many are free for so long, and which; there are at least so many."""
    # What keeps one out can only go away when it is free, or at the end of something.
    ends = {one.free_time for one in machines} | {end for one in machines for _, end in one.promised}
    free = ((begin, [one for one in machines if one.is_free(begin, use)]) for begin in sorted(ends))
    begin, able = next((begin, able) for begin, able in free if len(able) >= number)
    return begin, sorted(able, key=lambda one: (not one.is_there, one.free_time, one.machine_id))[:number]
