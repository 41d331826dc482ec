"""Says if one job's kernel is faster than another's, from the cases that both were timed with.

The time of a case is a median. Its uncertainty is the wider of two: the confidence interval of the median, and how far
the medians of the sessions lie apart, which are processes of their own. Both are taken as normal in the logarithm, so
the mean over the cases is a geometric one, and its interval follows from theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, hypot, inf, log, sqrt
from statistics import variance

from wavepool.executor.v1.run_event_pb2 import Benchmarked, BenchmarkResult, Finished

from services.scheduler.jobs.errors import NotComparableError
from services.scheduler.jobs.job import Job
from services.scheduler.jobs.timing import RankingKey, is_proven, key_of

Z_95 = 1.959964
"""Two-sided 95 % quantile of the normal distribution."""
SAME_WITHIN = 1.02
"""Kernels whose times differ by less are the same to people: a machine's own days differ as much."""


class ComparisonVerdict(StrEnum):
    """How the other job's kernel compares with the base's."""

    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNCLEAR = "UNCLEAR"


@dataclass(frozen=True)
class Speedup:
    """Base time divided by other time, above 1 if the other is faster, with its 95 % interval."""

    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class CaseComparison:
    """One case of both jobs; times in nanoseconds. The verdict is of this case alone."""

    name: str
    base_ns: float
    other_ns: float
    speedup: Speedup
    verdict: ComparisonVerdict


@dataclass(frozen=True)
class Comparison:
    """The comparison; `reason` is a sentence for people."""

    verdict: ComparisonVerdict
    reason: str
    speedup: Speedup
    cases: Sequence[CaseComparison]


def compare(base: Job, other: Job) -> Comparison:
    """Compares two ended jobs.

    Raises NotComparableError if one of them has no times, if problem, hardware, element type or timing mode differ, or
    if they share no case.
    """
    base_timed, other_timed = (_timed(job) for job in (base, other))
    pairs = _pairs((base, base_timed), (other, other_timed))
    errors = [hypot(_error(one), _error(another)) for one, another in pairs]
    unproven = [job.job_id for job, timed in ((base, base_timed), (other, other_timed)) if not is_proven(timed)]
    cases = [
        _case(one, another, error, proven=not unproven) for (one, another), error in zip(pairs, errors, strict=True)
    ]
    centre = sum(log(case.speedup.ratio) for case in cases) / len(cases)
    speedup = _speedup(centre, hypot(*errors) / len(cases))
    if unproven:
        reason = f"The times of {' and '.join(unproven)} are not proven."
        return Comparison(ComparisonVerdict.UNCLEAR, reason, speedup, cases)
    return Comparison(*_judged(speedup), speedup, cases)


def key_to_compare(job: Job) -> RankingKey:
    """The key that all jobs have with which an ended job can be compared; raises NotComparableError without times."""
    timed = _timed(job)
    _times(job, timed)
    return key_of(job, timed)


def is_comparable(base: Job, other: Job) -> bool:
    """True if `compare` compares the two."""
    try:
        _pairs((base, _timed(base)), (other, _timed(other)))
    except NotComparableError:
        return False
    return True


def _timed(job: Job) -> Benchmarked:
    return Finished.FromString(job.result).benchmarked


def _pairs(
    base: tuple[Job, Benchmarked], other: tuple[Job, Benchmarked]
) -> Sequence[tuple[BenchmarkResult, BenchmarkResult]]:
    """The cases of both; raises NotComparableError."""
    base_id, other_id = base[0].job_id, other[0].job_id
    base_times, other_times = _times(*base), _times(*other)
    for name, one, another in _differences(key_of(*base), key_of(*other)):
        if one != another:
            raise NotComparableError(f"{base_id} has {name} {one}, and {other_id} has {another}")
    pairs = [(case, other_times[name]) for name, case in base_times.items() if name in other_times]
    if not pairs:
        raise NotComparableError(f"{base_id} and {other_id} were timed with no case in common")
    return pairs


def _judged(speedup: Speedup) -> tuple[ComparisonVerdict, str]:
    # Rounded, so that two jobs that lie on a limit are judged alike, whichever is the base.
    ratio, low, high = (_rounded_log(value) for value in (speedup.ratio, speedup.low, speedup.high))
    interval = f"95 % interval {speedup.low:.3f} to {speedup.high:.3f}"
    limit = _rounded_log(SAME_WITHIN)
    if low > -limit and high < limit:
        return ComparisonVerdict.SAME, f"They differ by less than {SAME_WITHIN - 1:.0%} ({interval})."
    if low > 0 and ratio >= limit:
        return ComparisonVerdict.FASTER, f"The other is {speedup.ratio:.3f} times as fast ({interval})."
    if high < 0 and ratio <= -limit:
        return ComparisonVerdict.SLOWER, f"The other is {speedup.ratio:.3f} times as fast ({interval})."
    return ComparisonVerdict.UNCLEAR, f"The times vary too much to compare ({interval}); run both again."


def _rounded_log(value: float) -> float:
    return round(log(value), 12) if value > 0 else -inf


def _times(job: Job, timed: Benchmarked) -> dict[str, BenchmarkResult]:
    times = {result.name: result for result in timed.results if result.runtime_ns > 0}
    if not times:
        raise NotComparableError(f"{job.job_id} has no times; compare jobs that ran in mode benchmark or full")
    return times


def _differences(one: RankingKey, another: RankingKey) -> Sequence[tuple[str, str, str]]:
    return [
        ("the problem", one.problem, another.problem),
        ("the hardware", one.hardware, another.hardware),
        ("the element type", one.dtype, another.dtype),
        ("the timing mode", one.timing_mode, another.timing_mode),
    ]


def _case(base: BenchmarkResult, other: BenchmarkResult, error: float, *, proven: bool) -> CaseComparison:
    speedup = _speedup(log(base.runtime_ns / other.runtime_ns), error)
    verdict = _judged(speedup)[0] if proven else ComparisonVerdict.UNCLEAR
    return CaseComparison(base.name, base.runtime_ns, other.runtime_ns, speedup, verdict)


def _speedup(centre: float, error: float) -> Speedup:
    return Speedup(exp(centre), exp(centre - Z_95 * error), exp(min(centre + Z_95 * error, 700)))


def _error(case: BenchmarkResult) -> float:
    """The standard error of the logarithm of a case's time; infinite if nothing is known of it."""
    if not 0 < case.ci_low_ns <= case.ci_high_ns:
        return inf
    of_median = log(case.ci_high_ns / case.ci_low_ns) / (2 * Z_95)
    sessions = [log(median) for median in case.session_median_ns if median > 0]
    of_sessions = sqrt(variance(sessions) / len(sessions)) if len(sessions) > 1 else 0.0
    return max(of_median, of_sessions)
