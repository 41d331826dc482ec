"""The result of one case: its time, how sure it is, and whether it can be true."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from problems.kit.definition import Case, Problem
from problems.kit.work import work_of
from services.executor.core.audit.chain import ChainAudit
from services.executor.core.audit.chain_audit import ChainRule, audit_ratio, instruments_apart, shortfall
from services.executor.core.audit.judge_clock import (
    AuditRule,
    floor_fault,
    no_time,
    short_of_the_wait,
    too_short,
    waited_call_ns,
)
from services.executor.core.audit.revealing import NOT_REVEALED, Revealed
from services.executor.core.call.idle_work import NO_TIME, IdleTime, idle_doubt
from services.executor.core.call.runner_session import CallTimes
from services.executor.core.call.spans import SPAN_RULE, span_fault, spans_of
from services.executor.core.measure.measuring import Measurement
from services.executor.core.timing.benchmark_result import (
    Band,
    BenchmarkResult,
    InstrumentReading,
    ReplacedSample,
)
from services.executor.core.timing.case_timing import (
    BUSY,
    CACHES_MAY_BE_WARM,
    NOT_AUDITED,
    TimingFacts,
    no_chain,
    shown_interval,
    timing_of,
)
from services.executor.core.timing.session_rule import Agreement, SessionRule, agreement, disagreement, score
from services.executor.core.timing.statistics import Summary, interval_of_sessions, summarise
from services.executor.core.timing.stopping import StopReason
from vocabulary.roofline import Bound, Roofs, bound_of, floor_of

MOST_READINGS = 200
"""The most readings of the instruments that a result keeps; its bands are of all."""
_INSTRUMENTS = ("clock_mhz", "temperature_celsius", "power_watts")
_SHORTEST_NS = 1.0
"""A time of 0 counts as this much in divisions; such times are invalid anyway."""


@dataclass(frozen=True)
class Scale:
    """The rules and limits for a device's times; `dtype` is the run's.

    A GPU has its own clock as a second instrument (`spans.py`), and there the judge's clock can prove a time false. The
    cpu device shares its cores, so its times never rank: there that clock only makes a time doubtful, and intervals may
    have any width. `caches_may_be_warm` says that the sweep before each call was not seen to empty the caches
    (`flushing.py`). `machine_doubt` says why no time of this machine is proven.
    """

    roofs: Roofs | None
    dtype: str
    audit_rule: AuditRule
    chain_rule: ChainRule
    sessions: SessionRule
    is_gpu: bool = True
    caches_may_be_warm: bool = False
    machine_doubt: str = ""


@dataclass(frozen=True)
class CaseTimes:
    """One case, its place among `total_tests`, its sessions so far, and the steps after them.

    These are the chained audit, and the timed calls that were made again (`revealing.py`).
    """

    case: Case
    index: int
    total_tests: int
    sessions: tuple[Measurement, ...] = ()
    audit: ChainAudit | None = None
    revealed: Revealed = NOT_REVEALED

    @property
    def medians_ns(self) -> tuple[float, ...]:
        """The median time of each session."""
        return tuple(median(times.event_ns for times in session.times) for session in self.sessions)

    @property
    def calls(self) -> list[CallTimes]:
        """All samples, in order."""
        return [times for session in self.sessions for times in session.times]

    @property
    def claimed_ns(self) -> list[float]:
        """The claimed times of all samples."""
        return [float(times.event_ns) for times in self.calls]

    @property
    def walls_ns(self) -> list[float]:
        """The times of all samples by the judge's clock."""
        return [float(times.wall_ns) for session in self.sessions for times in session.times]

    @property
    def nulls_ns(self) -> list[float]:
        """The time of the way to the runner and back, beside each sample."""
        return [float(null) for session in self.sessions for null in session.nulls_ns]

    @property
    def idle(self) -> IdleTime:
        """The time between orders, in all sessions and the audit."""
        return sum((session.idle for session in self.sessions), self.audit.idle if self.audit else NO_TIME)

    def waited_ns(self, rule: AuditRule) -> list[float]:
        """The time that the judge waited for the median call of each session, in ns."""
        return [
            waited_call_ns(
                [float(times.event_ns) for times in session.times],
                [float(times.wall_ns) for times in session.times],
                session.nulls_ns,
                rule,
            )
            for session in self.sessions
        ]

    def wants_more(self, rule: SessionRule) -> bool:
        """True if another session is needed; never if a session's median is 0."""
        medians = self.medians_ns
        return all(value > 0 for value in medians) and agreement(medians, rule) is Agreement.MORE


def fault_of(problem: Problem, times: CaseTimes, scale: Scale) -> str:
    """The reason why the times cannot be true; empty if there is none."""
    return (
        no_time(times.claimed_ns, times.walls_ns, scale.audit_rule)
        or (_too_short(times, scale) if scale.is_gpu else "")
        or span_fault(times.calls, SPAN_RULE, has_clock=scale.is_gpu)
        or floor_fault(scale.roofs, work_of(problem, times.case, scale.dtype), score(times.medians_ns))
        or ""
    )


def _too_short(times: CaseTimes, scale: Scale) -> str:
    """Says if single calls, or all chains, took longer by the judge's clock than the times say; empty if not.

    The chains ran in a separate process. If processes differ in speed, that one says nothing about the others.
    """
    fault = too_short(times.claimed_ns, times.walls_ns, times.nulls_ns, scale.audit_rule)
    if fault or times.audit is None or not _sessions_agree(times, scale):
        return fault
    return shortfall(score(times.medians_ns), times.audit.chains, scale.chain_rule)


def _sessions_agree(times: CaseTimes, scale: Scale) -> bool:
    return agreement(times.medians_ns, scale.sessions) is not Agreement.UNSTABLE


def audit_doubt(times: CaseTimes, scale: Scale) -> str:
    """Says why the audit neither confirms nor refutes the times; empty if it does, or if there was none yet."""
    if times.audit is None:
        return ""
    if not scale.is_gpu:
        because = _too_short(times, scale)
        return f"{BUSY} ({because})" if because else ""
    if not times.audit.chains:
        return no_chain(times.audit.why_none or "there was no time for one")
    claimed_ns = score(times.medians_ns)
    apart = instruments_apart(claimed_ns, times.audit.chains, scale.chain_rule)
    apart = apart or short_of_the_wait(claimed_ns, times.waited_ns(scale.audit_rule), scale.audit_rule)
    return f"the instruments disagree: {apart}" if apart else ""


def facts_of(problem: Problem, times: CaseTimes, scale: Scale, launched_by_submission: str) -> TimingFacts:
    """The facts that decide the timing of a case (`case_timing.py`)."""
    runtime_ns = score(times.medians_ns)
    low_ns, high_ns = _interval_ns(times)
    return TimingFacts(
        fault=fault_of(problem, times, scale),
        launched_by_submission=launched_by_submission,
        sessions_agree=_sessions_agree(times, scale),
        half_width=(high_ns - low_ns) / 2 / runtime_ns if runtime_ns > 0 else math.inf,
        may_be_wide=not scale.is_gpu,
        doubts=tuple(filter(None, _doubts(times, scale, is_audited=not launched_by_submission))),
    )


def _doubts(times: CaseTimes, scale: Scale, *, is_audited: bool) -> Iterable[str]:
    if is_audited:
        yield audit_doubt(times, scale) if times.audit else NOT_AUDITED
    yield idle_doubt(times.idle)
    yield scale.machine_doubt
    yield CACHES_MAY_BE_WARM if scale.caches_may_be_warm else ""


def result_of(problem: Problem, times: CaseTimes, scale: Scale, facts: TimingFacts) -> BenchmarkResult:
    """The full result of a case, as it is reported."""
    samples = times.claimed_ns
    summary = summarise(samples)
    runtime_ns = score(times.medians_ns)
    ci_low_ns, ci_high_ns = _interval_ns(times)
    reasons = [session.stopped_by for session in times.sessions]
    stopped_by = next((reason for reason in reasons if reason is not StopReason.PRECISION), StopReason.PRECISION)
    return BenchmarkResult(
        test_id=times.index + 1,
        name=times.case.name,
        total_tests=times.total_tests,
        runtime_ns=runtime_ns,
        ci_low_ns=ci_low_ns,
        ci_high_ns=ci_high_ns,
        converged=stopped_by is StopReason.PRECISION,
        stopped_by=stopped_by,
        sample_ns=tuple(samples),
        timing=timing_of(facts),
        unproven_because=facts.unproven_because,
        shown_interval=shown_interval(facts),
        session_median_ns=times.medians_ns,
        disagreement=disagreement(times.medians_ns, scale.sessions) if runtime_ns > 0 else 0.0,
        replaced=tuple(_replaced(times)),
        session_samples=tuple(len(session.times) for session in times.sessions),
        instruments=tuple(_instruments(times)),
        **_spread(summary),
        **_rates(problem, times, scale, runtime_ns),
        **_audit(times),
        **_bands(times),
    )


def _interval_ns(times: CaseTimes) -> tuple[float, float]:
    samples_ns = [[float(times.event_ns) for times in session.times] for session in times.sessions]
    low_ns, high_ns = interval_of_sessions(samples_ns)
    runtime_ns = score(times.medians_ns)
    return min(low_ns, runtime_ns), max(high_ns, runtime_ns)


def _spread(summary: Summary) -> dict[str, Any]:
    return {
        "samples": summary.count,
        "min_ns": summary.minimum,
        "p5_ns": summary.p5,
        "p25_ns": summary.p25,
        "p75_ns": summary.p75,
        "p95_ns": summary.p95,
        "p99_ns": summary.p99,
        "max_ns": summary.maximum,
        "mad_ns": summary.mad,
        "iqr_ns": summary.iqr,
        "bimodality": None if math.isnan(summary.bimodality) else summary.bimodality,
        "correlation_time": summary.correlation_time,
    }


def _rates(problem: Problem, times: CaseTimes, scale: Scale, runtime_ns: float) -> dict[str, Any]:
    work, seconds = work_of(problem, times.case, scale.dtype), max(runtime_ns, _SHORTEST_NS) / 1e9
    bound, percent = bound_of(scale.roofs, work, seconds) if scale.roofs else (Bound.UNKNOWN, None)
    return {
        "gflops": work.flops / seconds / 1e9,
        "gbytes_per_second": problem.bytes(times.case) / seconds / 1e9,
        "arithmetic_intensity": work.arithmetic_intensity,
        "percent_of_roof": percent,
        "bound": bound,
        "floor_ns": floor_of(scale.roofs, work).seconds * 1e9 if scale.roofs else None,
    }


def _audit(times: CaseTimes) -> dict[str, Any]:
    chains = times.audit.chains if times.audit else ()
    spans = spans_of(times.calls)
    return {
        "wall_runtime_ns": median(times.walls_ns),
        "null_ns": median(times.nulls_ns),
        "audit_ratio": audit_ratio(score(times.medians_ns), chains),
        "audited_calls": sum(chain.calls for chain in chains),
        "not_chained_because": times.audit.why_none if times.audit else "",
        "stream_span_ns": spans.stream_ns if spans else None,
        "device_span_ns": spans.device_ns if spans else None,
        "hot_ns": median(median(chain.events_ns) for chain in chains) if chains else None,
        "first_call_ns": median(session.first_call_ns for session in times.sessions),
        "flush_bytes": max(session.flush_bytes for session in times.sessions),
    }


def _bands(times: CaseTimes) -> dict[str, Any]:
    readings = [reading for session in times.sessions for reading in session.readings]
    return {name: _band(getattr(reading, name) for reading in readings) for name in _INSTRUMENTS}


def _instruments(times: CaseTimes) -> Iterable[InstrumentReading]:
    """The readings that say something, evenly spaced over the samples, in the order of their times."""
    begin_ns, first, found = times.sessions[0].begin_ns, 0, list[InstrumentReading]()
    for session in times.sessions:
        for at, (reading, read_ns) in enumerate(zip(session.readings, session.read_ns, strict=True), start=first):
            known = {name: getattr(reading, name) for name in _INSTRUMENTS}
            if any(value is not None for value in known.values()):
                found.append(InstrumentReading(at, (read_ns - begin_ns) / 1e6, **known))
        first += len(session.times)
    step = max(1, -(-len(found) // MOST_READINGS))
    return sorted(found[::step], key=lambda one: one.time_ms)


def _band(values: Iterable[float | None]) -> Band | None:
    known = [value for value in values if value is not None]
    return Band(min(known), median(known), max(known), fmean(known)) if known else None


def _replaced(times: CaseTimes) -> Iterable[ReplacedSample]:
    for number, session in enumerate(times.sessions):
        for sample in session.replaced:
            yield ReplacedSample(number, sample.index, sample.ns, sample.cause)
