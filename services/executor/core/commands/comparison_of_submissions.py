"""Decides which of two measured submissions is faster, if that can be said at all.

The ratio of the times of each case is known within the intervals of their medians. The geometric mean of the ratios,
taken in log space, is known within the means of those ends: the errors of cases may all point one way, so a large
number of cases gains nothing. A difference below SAME_WITHIN counts as none, because sessions of one submission may
differ by as much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

SAME_WITHIN = 0.01
"""Relative to the faster one; the tolerance between sessions (`session_rule.py`)."""


class Order(StrEnum):
    """The speed of the second submission beside the first."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNCLEAR = "UNCLEAR"


class NotComparableError(ValueError):
    """Two reports are not of the same kind; the message names the field."""


@dataclass(frozen=True)
class TimedCase:
    """A case's time and the interval that it lies in, all above 0."""

    name: str
    ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True)
class Compared:
    """The result of a comparison; `ratio` is the second's time over the first's, and lies in `low`..`high`.

    `unclear_because` names the times that cannot be ranked, if that is why the order is unclear. `never_ranks` says why
    these times rank nowhere, whichever is shorter; it is empty for those of a GPU.
    """

    order: Order
    ratio: float
    low: float
    high: float
    unclear_because: str = ""
    never_ranks: str = ""


def compare_times(first: Sequence[TimedCase], second: Sequence[TimedCase]) -> Compared:
    """Compares two submissions with the same cases; raises NotComparableError."""
    names = [case.name for case in first]
    if names != [case.name for case in second] or not names:
        raise NotComparableError("cases: the two have been measured on different cases")
    pairs = list(zip(first, second, strict=True))
    ratio = _mean([math.log(b.ns / a.ns) for a, b in pairs])
    low = min(_mean([math.log(b.low_ns / a.high_ns) for a, b in pairs]), ratio)
    high = max(_mean([math.log(b.high_ns / a.low_ns) for a, b in pairs]), ratio)
    return Compared(_order(low, high), math.exp(ratio), math.exp(low), math.exp(high))


def compare_reports(first: Mapping[str, Any], second: Mapping[str, Any]) -> Compared:
    """Compares two canonical reports; UNCLEAR if a time cannot be ranked. Raises NotComparableError."""
    for name in ("problem", "dtype", "size_set", "device", "simulated", "timing_mode"):
        if first.get(name) != second.get(name):
            raise NotComparableError(f"{name}: {first.get(name)!r} and {second.get(name)!r} cannot be compared")
    compared = replace(compare_times(_cases(first), _cases(second)), never_ranks=_never_ranks(first))
    timings = {name: _benchmark(report).get("timing") for name, report in (("first", first), ("second", second))}
    unranked = [f"the timing of the {name} is {timing}" for name, timing in timings.items() if timing != "VALID"]
    if not unranked:
        return compared
    return replace(compared, order=Order.UNCLEAR, unclear_because=", and ".join(unranked))


def _never_ranks(report: Mapping[str, Any]) -> str:
    if report.get("simulated"):
        return "a simulated device's times are made up, and never rank"
    device = report.get("device")
    is_cpu = isinstance(device, dict) and cast("dict[str, Any]", device).get("name") == "cpu"
    return "times of `cpu` never rank" if is_cpu else ""


def _order(low: float, high: float) -> Order:
    least = math.log1p(SAME_WITHIN)
    if -least <= low and high <= least:
        return Order.SAME
    if high < 0:
        return Order.FASTER
    return Order.SLOWER if low > 0 else Order.UNCLEAR


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _benchmark(report: Mapping[str, Any]) -> Mapping[str, Any]:
    benchmark = report.get("benchmark")
    if not isinstance(benchmark, dict):
        raise NotComparableError("benchmark: a report has none; compare runs of mode benchmark or full")
    return cast("Mapping[str, Any]", benchmark)


def _cases(report: Mapping[str, Any]) -> list[TimedCase]:
    try:
        return [_case(result) for result in _benchmark(report)["results"]]
    except (KeyError, TypeError) as error:
        raise NotComparableError(f"benchmark.results: not those of a report ({error})") from error


def _case(result: Mapping[str, Any]) -> TimedCase:
    case = TimedCase(str(result["name"]), *(float(result[name]) for name in ("runtime_ns", "ci_low_ns", "ci_high_ns")))
    if not all(0 < ns < math.inf for ns in (case.ns, case.low_ns, case.high_ns)):
        raise NotComparableError(f"benchmark.results: case {case.name!r} has no time")
    return case
