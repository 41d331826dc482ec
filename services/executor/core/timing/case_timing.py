"""Decides the timing of a case: a pure decision from the known facts.

A finding comes before the lack of one. INVALID says that the time cannot be true, UNSTABLE that there is no single
time; both were measured. UNPROVEN says that we could not find out, and VALID that nothing is left to find out. A run
has the worst timing of its cases in the same order. On a device with shared processors a wide interval is the work of
others as well, so there it comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.executor.core.timing.benchmark_result import BenchmarkResult, Timing
from services.executor.core.timing.statistics import geometric_mean
from vocabulary.intervals import TimeUnit, figure_of, unit_of

WIDEST_INTERVAL = 0.05
"""The widest half-width of a 95 % interval, relative to the time, for a time that is called valid."""
WIDEST_SHOWN = 1.0
"""The widest one that is shown, and worth no second try: a time that is uncertain by a factor of two means nothing."""
_WORST_FIRST = (Timing.INVALID, Timing.UNSTABLE, Timing.UNPROVEN, Timing.VALID)

LAUNCHED_BY_SUBMISSION = (
    "host code of the submission ran in the process that launched its kernels, and could have done there what our "
    "clocks did not see. Send kernels with a launch plan, which our own runner launches (contract D, docs/contracts.md)"
)
"""The reason for contract H. Everything else about the time may be right."""

BUSY = "the machine was too busy to measure: run again"
CACHES_MAY_BE_WARM = (
    "the sweep before each call was not seen to empty the caches, so these may be times of warm ones: run again, or "
    "ask for hot times"
)
PART_OF_A_GPU = (
    "the job had a part of a GPU, and other jobs may have used the rest of it meanwhile: ask for a whole GPU to have a "
    "time that counts"
)
NOT_AUDITED = "it was not audited, as the time of another case cannot be true"


def no_chain(because: str) -> str:
    """The reason that only the device's own clocks confirm a time."""
    return f"no chain of calls, on the judge's own clock, bears it out ({because})"


def launched_by_submission(because: str) -> str:
    """The reason for contract H, and why we did not launch the kernels ourselves."""
    return f"we could not launch its kernels ourselves ({because}); {LAUNCHED_BY_SUBMISSION}"


@dataclass(frozen=True)
class TimingFacts:
    """The known facts about one case's time. Each sentence is for the author, and empty if there is nothing to say.

    `fault` says why the time cannot be true. `launched_by_submission` says that host code of the submission ran in the
    process that launched the calls, and what to change. `doubts` are other things that we could not find out, because
    of a busy host, or of a sandbox that worked between orders. `half_width` is that of the 95 % interval, relative to
    the time. `may_be_wide` is for devices with shared processors, whose times never rank: front ends show the interval
    beside the word UNSTABLE, up to `WIDEST_SHOWN`.
    """

    fault: str = ""
    launched_by_submission: str = ""
    sessions_agree: bool = True
    half_width: float = 0.0
    may_be_wide: bool = False
    doubts: tuple[str, ...] = ()

    @property
    def unproven_because(self) -> str:
        """All reasons why the time is not proven, first those that another try does not change; empty if it is."""
        return "; ".join(filter(None, (self.launched_by_submission, *self.doubts)))


def timing_of(facts: TimingFacts) -> Timing:
    """The timing of one case."""
    if facts.fault:
        return Timing.INVALID
    is_wide = facts.half_width > WIDEST_INTERVAL
    if not facts.sessions_agree or (is_wide and not facts.may_be_wide):
        return Timing.UNSTABLE
    if facts.unproven_because:
        return Timing.UNPROVEN
    return Timing.UNSTABLE if is_wide else Timing.VALID


def shown_interval(facts: TimingFacts) -> float:
    """The half-width to be shown beside UNSTABLE on a device that never ranks; 0 if it is too wide for that."""
    is_shown = facts.may_be_wide and WIDEST_INTERVAL < facts.half_width <= WIDEST_SHOWN
    return facts.half_width if is_shown else 0.0


def too_wide(facts: TimingFacts) -> bool:
    """True if an interval that may be wide is too wide to mean anything."""
    return facts.may_be_wide and facts.half_width > WIDEST_SHOWN


def worst_timing(timings: Iterable[Timing]) -> Timing:
    """The timing of a whole run."""
    return min(timings, key=_WORST_FIRST.index, default=Timing.UNPROVEN)


def unproven_run_because(named_reasons: Sequence[tuple[str, str]]) -> str:
    """Why a run is unproven, from names and reasons of all its cases; a reason that all share is given once."""
    reasons = [(name, reason) for name, reason in named_reasons if reason]
    if not reasons:
        return ""
    name, reason = reasons[0]
    if len(reasons) == len(named_reasons) and all(other == reason for _, other in reasons):
        return reason
    more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
    return f"case `{name}`{more}: {reason}"


def shown_interval_of_run(results: Sequence[BenchmarkResult]) -> float:
    """The widest interval of the UNSTABLE cases; 0 if one of them is too wide to be shown."""
    shown = [result.shown_interval for result in results if result.timing is Timing.UNSTABLE]
    return max(shown) if shown and all(shown) else 0.0


def timing_note(
    timing: Timing, results: Sequence[BenchmarkResult], unproven_because: str, *, is_shared: bool = False
) -> str:
    """A note for the author beside the verdict if the time is UNPROVEN or UNSTABLE; otherwise empty.

    `is_shared` says that the processors are shared, so that others may be the cause and no time ranks.
    """
    if timing is Timing.UNPROVEN:
        return f"The time is UNPROVEN: {unproven_because}."
    if timing is not Timing.UNSTABLE:
        return ""
    if is_shared:
        return "The time is UNSTABLE: other work on the machine may be the cause. Run again when it is quiet."
    unit = unit_of(geometric_mean([result.runtime_ns for result in results]))
    unstable = "; ".join(_spread_of(result, unit) for result in results if result.timing is Timing.UNSTABLE)
    return (
        f"The time is UNSTABLE, so there is none to rank ({unstable}): look for what differs from call to call and "
        "from process to process, such as work that depends on where memory lies, and run again."
    )


def _spread_of(result: BenchmarkResult, unit: TimeUnit) -> str:
    half_ns = (result.ci_high_ns - result.ci_low_ns) / 2
    figures = [figure_of(median_ns, half_ns, unit) for median_ns in result.session_median_ns]
    medians = " and ".join(filter(None, (", ".join(figures[:-1]), *figures[-1:])))
    half_width = 100 * half_ns / result.runtime_ns
    return (
        f"case `{result.name}`: {100 * result.disagreement:.2g} % between sessions with medians of {medians} "
        f"{unit.name}, and an interval of ± {half_width:.2g} %"
    )
