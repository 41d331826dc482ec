"""How far times are known, and the digits that this leaves."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, fsum, inf, isfinite, log10
from typing import NamedTuple, Protocol


class TimedCase(Protocol):
    """The time of a case, and its interval."""

    @property
    def runtime_ns(self) -> float:
        """The time."""
        ...

    @property
    def ci_low_ns(self) -> float:
        """The low end."""
        ...

    @property
    def ci_high_ns(self) -> float:
        """The high end."""
        ...


def interval_of_mean(cases: Iterable[TimedCase]) -> float:
    """Half the width of the interval of a geometric mean, over the mean; 0 if nothing is known of it.

    The mean is within this if each case is within its own interval.
    """
    shares = [(one.ci_high_ns - one.ci_low_ns) / 2 / one.runtime_ns for one in cases if one.runtime_ns > 0]
    known = [share for share in shares if isfinite(share)]
    return max(0.0, fsum(known) / len(known)) if known else 0.0


class TimeUnit(NamedTuple):
    """A unit of time, and its length in nanoseconds."""

    name: str
    ns: float


_UNITS = (TimeUnit("s", 1e9), TimeUnit("ms", 1e6), TimeUnit("µs", 1e3), TimeUnit("ns", 1.0))


def unit_of(time_ns: float) -> TimeUnit:
    """The unit in which a time has one to three digits before the point."""
    return next((unit for unit in _UNITS if time_ns >= unit.ns), _UNITS[-1])


def figure_of(time_ns: float, half_ns: float, unit: TimeUnit) -> str:
    """A time in a unit without its name, known within `half_ns`; with three digits if that is not known.

    The half-width has two digits, and the time ends with the same one: further digits would say nothing.
    """
    if not 0 < half_ns < inf:
        return f"{time_ns / unit.ns:.3g}"
    half = float(f"{half_ns / unit.ns:.1e}")
    last = floor(log10(half)) - 1
    return f"{round(time_ns / unit.ns, -last):,.{max(0, -last)}f}"


def time_text(time_ns: float, interval: float) -> str:
    """A time with half the width of its interval, such as `53 ± 42 µs`; `interval` is that half over the time."""
    unit, half_ns = unit_of(time_ns), time_ns * interval
    time = figure_of(time_ns, half_ns, unit)
    return f"{time} ± {figure_of(half_ns, half_ns, unit)} {unit.name}" if 0 < half_ns < inf else f"{time} {unit.name}"
