"""Arrivals of jobs and the time that each holds a machine: made up from a seed, or read from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

HOUR_SECONDS = 3600.0
DAY_HOURS = 24.0
_OFFICE_HOURS = (8.0, 18.0)


@dataclass(frozen=True)
class Arrival:
    """A job: its arrival, from the start of the day, and the time that it will hold its machine."""

    seconds: float
    duration_seconds: float


@dataclass(frozen=True)
class Habits:
    """Habits of people and their agents. Rates are sittings per hour, in and out of office hours.

    A person's sitting is a chain of edits, each submitted after a pause; an agent's is a sweep of variants at once.
    """

    office_rate: float = 2.5
    other_rate: float = 0.25
    sweep_share: float = 0.15
    edits_mean: float = 12.0
    pause_median_seconds: float = 90.0
    sweep_sizes: tuple[int, int] = (8, 32)
    duration_median_seconds: float = 20.0
    duration_spread: float = 0.8
    pause_spread: float = 0.9


def day_of_arrivals(draw: Random, habits: Habits, hours: float = DAY_HOURS) -> list[Arrival]:
    """The jobs of this many hours from midnight on, in order."""
    arrivals = [arrival for start in _sittings(draw, habits, hours) for arrival in _sitting(draw, habits, start)]
    return sorted(arrivals, key=lambda arrival: arrival.seconds)


def read_arrivals(path: Path, duration_seconds: float) -> list[Arrival]:
    """Reads lines with a timestamp and, after white space or a comma, an optional duration, both in seconds.

    Times count from the first line's. Raises ValueError that names a wrong line.
    """
    arrivals: list[Arrival] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        try:
            time, duration = float(words[0]), float(words[1]) if len(words) > 1 else duration_seconds
        except ValueError:
            raise ValueError(f"{path}:{number}: {line!r} is not a timestamp and a duration in seconds") from None
        if duration <= 0:
            raise ValueError(f"{path}:{number}: the duration must be more than 0; it is {duration:g}")
        arrivals.append(Arrival(time, duration))
    if not arrivals:
        raise ValueError(f"{path}: it has no arrivals; give one timestamp per line")
    first = min(arrival.seconds for arrival in arrivals)
    shifted = (Arrival(arrival.seconds - first, arrival.duration_seconds) for arrival in arrivals)
    return sorted(shifted, key=lambda arrival: arrival.seconds)


def _sittings(draw: Random, habits: Habits, hours: float) -> Iterator[float]:
    highest = max(habits.office_rate, habits.other_rate)
    hour = draw.expovariate(highest)
    while hour < hours:
        in_office = _OFFICE_HOURS[0] <= hour % DAY_HOURS < _OFFICE_HOURS[1]
        # Thinning gives a Poisson process with a changing rate.
        if draw.random() < (habits.office_rate if in_office else habits.other_rate) / highest:
            yield hour * HOUR_SECONDS
        hour += draw.expovariate(highest)


def _sitting(draw: Random, habits: Habits, start: float) -> Iterator[Arrival]:
    if draw.random() < habits.sweep_share:
        for _ in range(draw.randint(*habits.sweep_sizes)):
            yield Arrival(start + draw.random(), _duration(draw, habits))
        return
    time = start
    for _ in range(1 + int(draw.expovariate(1 / (habits.edits_mean - 1)))):
        yield Arrival(time, _duration(draw, habits))
        time += habits.pause_median_seconds * draw.lognormvariate(0, habits.pause_spread)


def _duration(draw: Random, habits: Habits) -> float:
    return habits.duration_median_seconds * draw.lognormvariate(0, habits.duration_spread)
