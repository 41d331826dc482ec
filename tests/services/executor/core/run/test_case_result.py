from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.library.catalogue import Catalogue
from services.executor.core.audit.chain import ChainAudit
from services.executor.core.audit.chain_audit import CPU_CHAIN_RULE, GPU_CHAIN_RULE, ChainMeasurement
from services.executor.core.audit.judge_clock import CPU_RULE, GPU_RULE
from services.executor.core.call.idle_work import IdleTime
from services.executor.core.call.runner_session import CallTimes
from services.executor.core.check.sample_replacement import Cause, Replaced
from services.executor.core.measure.measuring import Measurement
from services.executor.core.run.case_result import MOST_READINGS, CaseTimes, Scale, facts_of, fault_of, result_of
from services.executor.core.timing.benchmark_result import Band, InstrumentReading, ReplacedSample, Timing
from services.executor.core.timing.case_timing import BUSY, CACHES_MAY_BE_WARM, NOT_AUDITED, TimingFacts, timing_of
from services.executor.core.timing.session_rule import CPU_SESSIONS, GPU_SESSIONS
from services.executor.core.timing.stopping import StopReason
from services.executor.devices.instruments import Reading
from vocabulary.roofline import roofs_of

PROBLEM = Catalogue.load().get("vector-addition").problem
CASE = PROBLEM.sizes.gpu[-1]
PROVEN = TimingFacts()
SCALE = Scale(roofs_of("gfx942", "AMD Instinct MI300X"), "float32", GPU_RULE, GPU_CHAIN_RULE, GPU_SESSIONS)
ON_CPU = replace(SCALE, roofs=None, audit_rule=CPU_RULE, chain_rule=CPU_CHAIN_RULE, sessions=CPU_SESSIONS, is_gpu=False)
sessions = st.lists(st.lists(st.integers(1, 10**9), min_size=1, max_size=30), min_size=1, max_size=5)


def _session(samples_ns: Sequence[int], wall_factor: float = 1.0) -> Measurement:
    times = tuple(CallTimes(ns, ns, round(ns * wall_factor) + 1000, ns, ns) for ns in samples_ns)
    return Measurement(times, (1000,) * len(times), StopReason.PRECISION)


def _times(*samples_ns: Sequence[int]) -> CaseTimes:
    times = CaseTimes(CASE, 2, 4, tuple(_session(samples) for samples in samples_ns))
    return replace(times, audit=_borne_out(median(times.medians_ns)))


def _borne_out(call_ns: float) -> ChainAudit:
    """An audit by a chain whose links took as long as the calls."""
    return ChainAudit((ChainMeasurement(4, round(4 * call_ns) + 1000, 1000, (call_ns,) * 4, 4),))


@given(sessions)
def test_no_sample_is_lost_and_the_time_lies_in_its_interval(samples_ns: list[list[int]]) -> None:
    result = result_of(PROBLEM, _times(*samples_ns), SCALE, PROVEN)
    assert list(result.sample_ns) == [float(ns) for session in samples_ns for ns in session]
    assert result.samples == len(result.sample_ns)
    assert result.min_ns <= result.ci_low_ns <= result.runtime_ns <= result.ci_high_ns <= result.max_ns
    assert len(result.session_median_ns) == len(samples_ns)
    assert result.iqr_ns == result.p75_ns - result.p25_ns


def test_the_time_is_the_median_of_the_sessions_and_not_of_the_samples() -> None:
    result = result_of(PROBLEM, _times([100] * 1000, [200] * 10, [300] * 10), SCALE, PROVEN)
    assert result.runtime_ns == 200
    assert result.disagreement == 1.0


def test_it_converged_only_where_every_session_did() -> None:
    times = _times([100], [100], [100])
    capped = replace(times, sessions=(*times.sessions[:2], replace(times.sessions[2], stopped_by=StopReason.WALL_TIME)))
    assert result_of(PROBLEM, times, SCALE, PROVEN).converged
    result = result_of(PROBLEM, capped, SCALE, PROVEN)
    assert (result.converged, result.stopped_by) == (False, "wall_time")


def test_instruments_are_reported_as_bands_and_their_absence_as_none() -> None:
    session = _session([100, 100])
    read = replace(
        session, readings=(Reading(clock_mhz=2000, power_watts=500), Reading(clock_mhz=2100)), read_ns=(1, 2)
    )
    result = result_of(PROBLEM, CaseTimes(CASE, 0, 4, (read,)), SCALE, PROVEN)
    assert result.clock_mhz == Band(2000, 2050, 2100, mean=2050)
    assert result.power_watts == Band(500, 500, 500, mean=500)
    assert result.temperature_celsius is None


def _read(begin_ns: int, *readings: tuple[int, Reading]) -> Measurement:
    """A session with readings at these times."""
    session = _session([100] * len(readings))
    ats, values = zip(*readings, strict=True)
    return replace(session, readings=values, read_ns=ats, begin_ns=begin_ns)


def test_instruments_keep_their_times_since_the_case_began_and_the_samples_they_are_of() -> None:
    first = _read(10**6, (4 * 10**6, Reading(clock_mhz=2000)), (3 * 10**6, Reading(power_watts=500)))
    second = _read(7 * 10**6, (8 * 10**6, Reading(page_faults=1)), (9 * 10**6, Reading(temperature_celsius=70)))
    result = result_of(PROBLEM, CaseTimes(CASE, 0, 4, (first, second)), SCALE, PROVEN)
    assert result.instruments == (
        InstrumentReading(1, 2.0, power_watts=500),
        InstrumentReading(0, 3.0, clock_mhz=2000),
        InstrumentReading(3, 8.0, temperature_celsius=70),
    )
    assert result.session_samples == (2, 2)


def test_a_device_without_instruments_has_no_series_of_them() -> None:
    sessions = (_read(0, (1, Reading())), _read(0, (2, Reading())))
    assert result_of(PROBLEM, CaseTimes(CASE, 0, 4, sessions), SCALE, PROVEN).instruments == ()


@given(st.integers(1, 1000))
def test_of_many_readings_a_bounded_number_is_kept_from_the_first_to_about_the_last(count: int) -> None:
    session = _read(0, *((at, Reading(clock_mhz=at)) for at in range(count)))
    result = result_of(PROBLEM, CaseTimes(CASE, 0, 4, (session,)), SCALE, PROVEN)
    samples = [one.sample for one in result.instruments]
    assert len(set(samples)) == len(samples) <= MOST_READINGS
    assert len(samples) > MOST_READINGS / 2 or len(samples) == count
    assert samples[0] == 0
    assert samples[-1] >= count - count / len(samples)
    assert result.clock_mhz is not None
    assert result.clock_mhz.high == count - 1


def test_a_replaced_sample_is_named_with_its_session() -> None:
    replaced = replace(_session([100]), replaced=(Replaced(0, 170.0, Cause.CLOCK),))
    result = result_of(PROBLEM, CaseTimes(CASE, 0, 4, (_session([100]), replaced)), SCALE, PROVEN)
    assert result.replaced == (ReplacedSample(1, 0, 170.0, "clock"),)


@pytest.mark.parametrize("forged", [0, -5])
def test_a_sample_of_no_time_makes_the_case_invalid_and_the_mean_nothing(forged: int) -> None:
    times = _times([1000, forged, 1000], [1000], [1000])
    assert "no time at all" in fault_of(PROBLEM, times, SCALE)
    assert timing_of(facts_of(PROBLEM, times, SCALE, "")) is Timing.INVALID
    nothing = _times([0])
    assert not nothing.wants_more(GPU_SESSIONS)
    assert math.isfinite(result_of(PROBLEM, nothing, SCALE, facts_of(PROBLEM, nothing, SCALE, "")).gflops)


def test_a_time_below_the_floor_is_invalid_with_the_numbers() -> None:
    fault = fault_of(PROBLEM, _times([2000] * 9), SCALE)
    assert "calls are said to take 2.00 us" in fault
    assert "bytes at 5.3 TB/s takes at least" in fault


def test_a_chain_that_took_longer_is_believed_before_the_claim() -> None:
    times = _times([10**9] * 9)
    chained = ChainAudit((ChainMeasurement(8, 24 * 10**9, 0, (0.9e9,), 8),))
    assert "needed the answer of the one before" in fault_of(PROBLEM, replace(times, audit=chained), SCALE)
    result = result_of(PROBLEM, replace(times, audit=chained), SCALE, PROVEN)
    assert (result.audit_ratio, result.audited_calls, result.hot_ns) == (pytest.approx(1 / 3), 8, 0.9e9)
    apart = replace(_times(*([ms * 10**6] for ms in (1000, 1100, 1200, 1300, 1400))), audit=chained)
    assert fault_of(PROBLEM, apart, SCALE) == ""
    assert timing_of(facts_of(PROBLEM, apart, SCALE, "")) is Timing.UNSTABLE
    not_chained = replace(times, audit=ChainAudit((), "no rule"))
    assert fault_of(PROBLEM, not_chained, SCALE) == ""
    result = result_of(PROBLEM, not_chained, SCALE, PROVEN)
    assert (result.audit_ratio, result.not_chained_because) == (None, "no rule")


def test_on_a_gpu_a_time_that_no_chain_bears_out_is_unproven() -> None:
    times = _times([10**9] * 9)
    assert timing_of(facts_of(PROBLEM, times, SCALE, "")) is Timing.VALID
    for audit, because in ((ChainAudit((), "no rule"), "no rule"), (ChainAudit(()), "there was no time for one")):
        facts = facts_of(PROBLEM, replace(times, audit=audit), SCALE, "")
        assert timing_of(facts) is Timing.UNPROVEN
        assert because in facts.unproven_because
        assert timing_of(facts_of(PROBLEM, replace(times, audit=audit), ON_CPU, "")) is Timing.VALID


def test_a_chain_that_the_host_held_up_proves_no_time() -> None:
    times = _times([30_000] * 9)
    held_up = ChainAudit((ChainMeasurement(32, 2_000_000, 2_500_000, (30e3,), 32),))
    facts = facts_of(PROBLEM, replace(times, audit=held_up), replace(SCALE, roofs=None), "")
    assert timing_of(facts) is Timing.UNPROVEN
    assert "30.0 us of each call, and the judge's clock -15.6 us" in facts.unproven_because


def test_on_the_cpu_device_a_time_that_no_chain_bears_out_is_unproven_and_nobody_is_accused() -> None:
    chained = ChainAudit((ChainMeasurement(2, 10**9, 10**6, (0.9e8,), 2),) * 40)
    doubtful = facts_of(PROBLEM, replace(_times([10**8] * 9), audit=chained), ON_CPU, "")
    assert timing_of(doubtful) is Timing.UNPROVEN
    assert doubtful.unproven_because.startswith(f"{BUSY} (calls are said to take 100000.0 us, but when each needed")
    borne_out = facts_of(PROBLEM, replace(_times([10**9] * 9), audit=chained), ON_CPU, "")
    assert (timing_of(borne_out), borne_out.unproven_because) == (Timing.VALID, "")


def test_nothing_else_is_said_of_a_time_that_host_code_of_the_submission_could_have_made() -> None:
    for audit in (None, ChainAudit((), "no rule"), ChainAudit((ChainMeasurement(2, 10**10, 0, (1e9,), 2),))):
        facts = facts_of(PROBLEM, replace(_times([10**9] * 9), audit=audit), ON_CPU, "launched")
        assert (timing_of(facts), facts.unproven_because) == (Timing.UNPROVEN, "launched")


@pytest.mark.parametrize("chains", [(), (ChainMeasurement(2, 2 * 10**8, 0, (1e8,), 2),) * 20])
def test_single_calls_that_are_too_short_are_in_doubt_on_the_cpu_device_whatever_chains_say(
    chains: tuple[ChainMeasurement, ...],
) -> None:
    session = _session([10**8] * 9)
    slow = replace(session, times=tuple(replace(times, wall_ns=4 * 10**8) for times in session.times))
    slow_nulls = replace(slow, nulls_ns=(4 * 10**8,) * 9)
    for measured, scale, timing in (
        (session, ON_CPU, Timing.VALID),
        (slow, ON_CPU, Timing.UNPROVEN),
        (slow_nulls, ON_CPU, Timing.UNPROVEN),
        (slow, replace(SCALE, roofs=None), Timing.INVALID),
    ):
        facts = facts_of(PROBLEM, CaseTimes(CASE, 0, 4, (measured,), ChainAudit(chains, "fixed")), scale, "")
        assert timing_of(facts) is timing
        assert facts.unproven_because.startswith(BUSY) is (timing is Timing.UNPROVEN)


def test_a_case_that_was_not_audited_is_not_proven() -> None:
    facts = facts_of(PROBLEM, replace(_times([10**9] * 9), audit=None), SCALE, "")
    assert (timing_of(facts), facts.unproven_because) == (Timing.UNPROVEN, NOT_AUDITED)


def test_cold_times_that_may_be_of_warm_caches_are_not_proven() -> None:
    facts = facts_of(PROBLEM, _times([10**9] * 9), replace(SCALE, caches_may_be_warm=True), "")
    assert (timing_of(facts), facts.unproven_because) == (Timing.UNPROVEN, CACHES_MAY_BE_WARM)


def test_work_between_the_calls_leaves_the_time_unproven() -> None:
    at_rest = replace(_session([10**9]), idle=IdleTime(wall_ns=10**9, cpu_ns=9 * 10**6))
    at_work = replace(at_rest, idle=IdleTime(wall_ns=10**9, cpu_ns=19 * 10**6))
    for sessions_made, timing in (((at_rest,) * 3, Timing.VALID), ((at_rest, at_rest, at_work), Timing.UNPROVEN)):
        facts = facts_of(PROBLEM, CaseTimes(CASE, 0, 4, sessions_made, _borne_out(1e9)), SCALE, "")
        assert timing_of(facts) is timing
    assert "37 ms of CPU time in 3000 ms between calls" in facts.unproven_because
    slows_empty_chains = replace(_borne_out(1e9), idle=IdleTime(wall_ns=10**8, cpu_ns=10**8))
    facts = facts_of(PROBLEM, CaseTimes(CASE, 0, 4, (at_rest,) * 3, slows_empty_chains), SCALE, "")
    assert timing_of(facts) is Timing.UNPROVEN


def test_an_interval_is_of_all_samples_and_decides_on_a_gpu() -> None:
    wide = _times([100] * 50 + [120] * 50)
    facts = facts_of(PROBLEM, wide, replace(SCALE, roofs=None), "")
    assert facts.half_width > 0.05
    assert timing_of(facts) is Timing.UNSTABLE
    on_a_processor = facts_of(PROBLEM, wide, ON_CPU, "")
    result = result_of(PROBLEM, wide, SCALE, on_a_processor)
    assert (result.timing, result.shown_interval) == (Timing.UNSTABLE, facts.half_width)
    assert result.shown_interval == (result.ci_high_ns - result.ci_low_ns) / 2 / result.runtime_ns


def test_forging_most_sessions_is_found_out() -> None:
    honest, forged = _session([10**9] * 9), _session([10**8] * 9, wall_factor=10)
    assert fault_of(PROBLEM, CaseTimes(CASE, 0, 4, (honest, honest, honest)), SCALE) == ""
    assert "the judge waited" in fault_of(PROBLEM, CaseTimes(CASE, 0, 4, (honest, forged, forged)), SCALE)


def test_sessions_that_stay_apart_are_unstable_on_a_processor_too() -> None:
    apart = _times([10**9], [2 * 10**9], [3 * 10**9], [4 * 10**9], [5 * 10**9])
    for scale in (SCALE, ON_CPU):
        assert timing_of(facts_of(PROBLEM, apart, scale, "")) is Timing.UNSTABLE


def test_arithmetic_intensity_and_the_floor_are_reported() -> None:
    result = result_of(PROBLEM, _times([10**6]), SCALE, PROVEN)
    assert result.arithmetic_intensity == pytest.approx(1 / 12)
    assert result.floor_ns is not None
    assert result.floor_ns > 1000
    assert result_of(PROBLEM, _times([10**6]), replace(SCALE, roofs=None), PROVEN).floor_ns is None
