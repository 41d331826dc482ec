"""Estimates how long a job will wait, by playing the queue forward many times with the times of the last runs.

Each play draws a time for every run that is under way and for every job ahead, and gives each job the machine that is
free first, as the dispatcher does. A few runs say only roughly how long their kind takes; so each play also draws, for
each kind, how far all of its times are off. The waits of all plays are the estimate. Jobs that come later are not in
it: they wait behind this one, unless they have a higher priority.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect_right
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAYS = 60
"""The p90 is the 54th of them; more plays change it by less than the history's own error."""
PLAYED_AHEAD = 200
"""Callers pass this many jobs; further ones count with a mean time, so that an estimate takes some 10 ms however long
the queue is."""
_SHORTEST, _MOST_ERROR = 1e-3, 0.5
"""Seconds that a run of no time counts as, and the largest error of a kind's time: a factor of 1.6."""


@dataclass(frozen=True)
class WaitEstimate:
    """The waits that 50 % and 90 % of such jobs do not exceed."""

    p50: timedelta
    p90: timedelta


@dataclass(frozen=True)
class Slots:
    """GPUs that a job may get.

    `busy` has, for each one in use, the seconds since its run began and the times of such runs. `starting` has, for
    each one of a machine that is being started, the seconds since its order, and its p50 and p90.
    """

    free: int = 0
    busy: Sequence[tuple[float, Sequence[float]]] = ()
    starting: Sequence[tuple[float, float, float]] = ()

    def __len__(self) -> int:
        return self.free + len(self.busy) + len(self.starting)


class _Kind:
    """What the last runs of one kind say: their times in order, and the error of the logarithm of a time."""

    def __init__(self, times: Sequence[float]) -> None:
        self.ordered = sorted(times)
        logarithms = [math.log(max(time, _SHORTEST)) for time in times]
        self.error = min(_MOST_ERROR, pstdev(logarithms) / math.sqrt(len(times)))


class _Play:
    """Draws of times in one play: all times of a kind are off by the same factor."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._factors: dict[_Kind, float] = {}

    def draw(self, kind: _Kind) -> float:
        """A time of the kind."""
        return self._factor(kind) * self._chance.choice(kind.ordered)

    def rest(self, elapsed: float, kind: _Kind) -> float:
        """What a run that has taken `elapsed` takes yet; one that is longer than all known ones takes as long again."""
        factor, times = self._factor(kind), kind.ordered
        first_longer = bisect_right(times, elapsed / factor)
        if first_longer == len(times):
            return elapsed
        return factor * times[self._chance.randrange(first_longer, len(times))] - elapsed

    def _factor(self, kind: _Kind) -> float:
        if kind not in self._factors:
            self._factors[kind] = math.exp(self._chance.gauss(0.0, kind.error))
        return self._factors[kind]


def _ready(chance: random.Random, elapsed: float, p50: float, p90: float) -> float:
    """When a machine is ready: at its p50 in half of all plays, and spread out beyond it in the others."""
    share = chance.random()
    time = p50 + (p90 - p50) * (share - 0.5) / 0.4 if share > 0.5 else p50  # noqa: PLR2004 - of the two percentiles
    return max(0.0, time - elapsed)


def wait_estimate(
    ahead: Sequence[Sequence[float]], slots: Slots, seed: str, beyond: int = 0, beyond_times: Sequence[float] = ()
) -> WaitEstimate | None:
    """The wait behind the jobs `ahead`, each with the seconds that such runs took; None without GPUs or history.

    `beyond` is the number of further jobs ahead, whose runs take `beyond_times`. The same seed gives the same estimate.
    """
    if not len(slots) or not all(ahead) or not all(times for _, times in slots.busy):
        return None
    if len(ahead) + beyond < slots.free:
        return WaitEstimate(timedelta(0), timedelta(0))
    # Jobs of a kind share one sequence of times.
    times_by_id = {id(times): times for times in _all_times(ahead, slots)}
    kinds = {key: _Kind(times) for key, times in times_by_id.items()}
    played = [kinds[id(times)] for times in ahead]
    busy = [(elapsed, kinds[id(times)]) for elapsed, times in slots.busy]
    mean_seconds = beyond * fmean(beyond_times) / len(slots) if beyond and beyond_times else 0.0
    waits: list[float] = []
    for number in range(PLAYS):
        chance = random.Random(f"{seed}:{number}")  # noqa: S311 - a simulation
        play = _Play(chance)
        # The instants, in seconds from now, at which each GPU is free next.
        free_at = [0.0] * slots.free
        free_at += [play.rest(elapsed, kind) for elapsed, kind in busy]
        free_at += [_ready(chance, *start) for start in slots.starting]
        heapq.heapify(free_at)
        for kind in played:
            heapq.heapreplace(free_at, free_at[0] + play.draw(kind))
        waits.append(free_at[0] + mean_seconds)
    return WaitEstimate(*(timedelta(seconds=percentile(waits, percent)) for percent in (50, 90)))


def _all_times(ahead: Sequence[Sequence[float]], slots: Slots) -> Iterator[Sequence[float]]:
    yield from ahead
    yield from (times for _, times in slots.busy)


def percentile(values: Sequence[float], percent: int) -> float:
    """Nearest-rank percentile of values that are not empty."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
