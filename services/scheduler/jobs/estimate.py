"""Estimates how long a job will wait, by playing the queue forward many times with the times of the last runs.

Each play draws a time for every run that is under way and for every job ahead, and gives each job the machine that is
free first, as the dispatcher does. A few runs say only roughly how long their kind takes; so each play also draws, for
each kind, how far all of its times are off. The waits of all plays are the estimate. Jobs that come later are not in
it: they wait behind this one, unless they have a higher priority.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAYS = 60
"""The p90 is the 54th of them; more plays change it by less than the history's own error."""
PLAYED_AHEAD = 200
"""Callers pass this many jobs; further ones count with a mean time, so that an estimate takes some 3 ms however long
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
    """What the last runs of one kind say: their times in order, and by how much each play's times are off.

    A play's times of the kind are all off by one factor, whose error is that of the mean logarithm of a time.
    """

    def __init__(self, times: Sequence[float], chance: np.random.Generator) -> None:
        self.ordered = np.sort(np.asarray(times, dtype=float))
        logarithms = np.log(np.maximum(self.ordered, _SHORTEST))
        error = min(_MOST_ERROR, float(logarithms.std()) / math.sqrt(len(times)))
        self.factors = np.exp(error * chance.standard_normal(PLAYS))

    def times(self, shares: np.ndarray) -> np.ndarray:
        """A time for each play: the share of all times that are below it is drawn."""
        return self.factors * self.ordered[(shares * len(self.ordered)).astype(int)]

    def rests(self, elapsed: float, shares: np.ndarray) -> np.ndarray:
        """What a run that has taken `elapsed` takes yet; one that is longer than all known ones takes as long again."""
        first_longer = np.searchsorted(self.ordered, elapsed / self.factors, side="right")
        longer = len(self.ordered) - first_longer
        drawn = np.minimum(first_longer + (shares * longer).astype(int), len(self.ordered) - 1)
        return np.where(longer == 0, elapsed, self.factors * self.ordered[drawn] - elapsed)


def _ready(shares: np.ndarray, elapsed: float, p50: float, p90: float) -> np.ndarray:
    """When a machine is ready: at its p50 in half of all plays, and spread out beyond it in the others."""
    times = np.where(shares > 0.5, p50 + (p90 - p50) * (shares - 0.5) / 0.4, p50)  # noqa: PLR2004 - of the two percentiles
    return np.maximum(0.0, times - elapsed)


def wait_estimate(
    ahead: Sequence[Sequence[float]],
    slots: Slots,
    seed: str,
    beyond: int = 0,
    beyond_times: Sequence[float] = (),
    *,
    gpus: int = 1,
    gpus_ahead: Sequence[int] = (),
) -> WaitEstimate | None:
    """The wait behind the jobs `ahead`, each with the seconds that such runs took; None without GPUs or history.

    The job takes so many `gpus`, and each of those ahead as many as `gpus_ahead` says, or one. A part of a GPU counts
    as a whole one, and GPUs of all machines as one machine's. `beyond` is the number of further jobs ahead, whose runs
    take `beyond_times`. The same seed gives the same estimate.
    """
    taken = gpus_ahead or (1,) * len(ahead)
    if len(slots) < gpus or not all(ahead) or not all(times for _, times in slots.busy):
        return None
    if sum(taken) + beyond + gpus <= slots.free:
        return WaitEstimate(timedelta(0), timedelta(0))
    # Draws of their own for the kinds, the GPUs and the jobs, so that one more job ahead changes no other draw.
    of_kinds, of_slots, of_jobs = np.random.default_rng(zlib.crc32(seed.encode())).spawn(3)
    # Jobs of a kind share one sequence of times.
    times_by_id = {id(times): times for times in (*(times for _, times in slots.busy), *ahead)}
    kinds = {key: _Kind(times, of_kinds) for key, times in times_by_id.items()}
    # The instants, in seconds from now, at which each GPU is free next: a row for each play.
    shares = of_slots.random((len(slots), PLAYS))
    free_at = np.zeros((PLAYS, len(slots)))
    for column, (elapsed, times) in enumerate(slots.busy, slots.free):
        free_at[:, column] = kinds[id(times)].rests(elapsed, shares[column])
    for column, start in enumerate(slots.starting, slots.free + len(slots.busy)):
        free_at[:, column] = _ready(shares[column], *start)
    plays = np.arange(PLAYS)
    for times, several, drawn in zip(ahead, taken, of_jobs.random((len(ahead), PLAYS)), strict=True):
        if several == 1:
            free_at[plays, free_at.argmin(axis=1)] += kinds[id(times)].times(drawn)
        elif several <= len(slots):
            first = free_at.argpartition(several - 1, axis=1)[:, :several]
            begin = np.take_along_axis(free_at, first, axis=1).max(axis=1)
            np.put_along_axis(free_at, first, (begin + kinds[id(times)].times(drawn))[:, None], axis=1)
    mean_seconds = beyond * fmean(beyond_times) / len(slots) if beyond and beyond_times else 0.0
    waits = (np.partition(free_at, gpus - 1, axis=1)[:, gpus - 1] + mean_seconds).tolist()
    return WaitEstimate(*(timedelta(seconds=percentile(waits, percent)) for percent in (50, 90)))


def percentile(values: Sequence[float], percent: int) -> float:
    """Nearest-rank percentile of values that are not empty."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
