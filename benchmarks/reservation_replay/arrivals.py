"""Days of people who reserve GPUs, and of short jobs beside them, made up from a seed.

Nobody has recorded such days: Wavepool has had no real users. What is known of other GPU clusters is only near: their
records are of jobs that end by themselves. These facts were used:

- The four clusters of Helios (Hu et al., SC 2021; the summary that its authors published beside the paper,
  S-Lab-System-Group/HeliosArtifact): of 1.58 million GPU jobs, half took one GPU and the mean was 3.7; 62 % completed,
  22 % were cancelled and 16 % failed, and those that were cancelled had 39 % of all GPU time. Many leave early.
- Logs of parallel computers that ask for a time (Tsafrir, Etsion and Feitelson, JSSPP 2005): 20 values are 90 % of all
  times that are asked for. So most here ask for a preset of `wavepool reserve`.
- Such jobs use any part of the time that they asked for, with many that end at once and many that use all of it
  (Mu'alem and Feitelson, IEEE TPDS 2001). The numbers in `Habits.uses` are ours.

All else is made up: the rhythm of a day, who extends, who gives up waiting, who reserves for later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

T = TypeVar("T")

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
RHYTHM = (2, 1, 1, 1, 1, 1, 2, 4, 8, 14, 15, 13, 9, 13, 15, 15, 14, 11, 7, 6, 6, 5, 4, 3)
"""How many come in each hour of a day, beside the other hours."""


@dataclass(frozen=True)
class Visit:
    """Somebody who reserves GPUs. Times are in seconds, `at` from midnight of the first day."""

    at: float
    queue: str
    gpus: int
    asked: float
    used: float
    """The time after which they leave, from when they can log in; `asked` or more if they stay to the end."""
    extends: float = 0.0
    """Time that they add shortly before the end; 0 if they do not."""
    ahead: float = 0.0
    """How long after `at` it is to start; 0 for as soon as there are GPUs."""
    gives_up: float = math.inf
    """They cancel after so long a wait."""


@dataclass(frozen=True)
class Kernel:
    """A job of one GPU for a kernel."""

    at: float
    queue: str
    problem: int
    seconds: float


@dataclass(frozen=True)
class Habits:
    """What people do. Pairs are a value and how often it is chosen."""

    visits: float = 31.0
    """A day, in the mean."""
    sittings: float = 5.0
    """Of people who submit kernels, a day."""
    gpus: tuple[tuple[int, float], ...] = ((1, 50), (2, 17), (4, 15), (8, 18))
    hours: tuple[tuple[float, float], ...] = (
        (0.25, 10),
        (0.5, 10),
        (1, 20),
        (2, 18),
        (4, 15),
        (8, 17),
        (12, 4),
        (24, 6),
    )
    odd_hours: float = 0.1
    """The share of those who ask for another time than a preset."""
    leaves_at_once: float = 0.15
    stays: float = 0.3
    """The share of those who stay to the end; the others leave at any time before."""
    extends: float = 0.25
    """Of those who stay."""
    dated: float = 0.08
    gives_up: float = 0.06
    queues: tuple[tuple[str, float], ...] = (("research", 60), ("kernels", 40))


def days_of_visits(draw: Random, habits: Habits, days: int) -> list[Visit]:
    """Those who reserve GPUs on so many days, in order."""
    return [_visit(draw, habits, at) for at in _arrivals(draw, habits.visits, days)]


def days_of_kernels(draw: Random, habits: Habits, days: int) -> list[Kernel]:
    """Jobs of people who edit one kernel for a while, in order."""
    found: list[Kernel] = []
    for start in _arrivals(draw, habits.sittings, days):
        at, problem, median = start, draw.randrange(8), draw.uniform(5, 60)
        for _ in range(draw.randint(2, 12)):
            found.append(Kernel(at, "kernels", problem, min(800.0, median * draw.lognormvariate(0, 0.5))))
            at += draw.expovariate(1 / 180)
    return sorted(found, key=lambda one: one.at)


def _arrivals(draw: Random, a_day: float, days: int) -> Iterator[float]:
    """Thinning gives a Poisson process with a changing rate."""
    highest = a_day * max(RHYTHM) / sum(RHYTHM)
    at = draw.expovariate(highest)
    while at < 24 * days:
        if draw.random() < RHYTHM[int(at) % 24] / max(RHYTHM):
            yield at * HOUR
        at += draw.expovariate(highest)


def _visit(draw: Random, habits: Habits, at: float) -> Visit:
    asked = _chosen(draw, habits.hours) * HOUR
    if draw.random() < habits.odd_hours:
        asked = round(draw.uniform(15, 720)) * MINUTE
    fate, used, extends = draw.random(), asked, 0.0
    if fate < habits.leaves_at_once:
        used = min(asked, draw.uniform(1, 10) * MINUTE)
    elif fate < 1 - habits.stays:
        used = draw.uniform(0.05, 1) * asked
    elif draw.random() < habits.extends:
        extends = min(draw.choice((1, 1, 2, 4)) * HOUR, max(asked, HOUR / 2))
        used = asked + extends * draw.uniform(0.2, 1.2)
    ahead = draw.uniform(1, 30) * HOUR if draw.random() < habits.dated else 0.0
    gives_up = draw.expovariate(1 / (3 * HOUR)) if draw.random() < habits.gives_up else math.inf
    gpus, queue = _chosen(draw, habits.gpus), _chosen(draw, habits.queues)
    return Visit(at, queue, gpus, asked, used, extends, ahead, gives_up)


def _chosen(draw: Random, choices: Sequence[tuple[T, float]]) -> T:
    values, weights = zip(*choices, strict=True)
    return draw.choices(values, weights)[0]
