from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.audit.judge_clock import (
    CPU_RULE,
    GPU_RULE,
    AuditRule,
    floor_fault,
    no_time,
    on_this_machine,
    short_of_the_wait,
    too_short,
    waited_call_ns,
)
from vocabulary.roofline import Work, roofs_of

EXACT = AuditRule(least_share_of_wall=0.9, null_quantile=0.5, most_null_ns=1e5, slack_ns=0.0)
walls = st.lists(st.floats(1e5, 1e9), min_size=1, max_size=20)


@given(walls, st.floats(0, 1e4))
def test_claims_that_agree_with_the_wall_are_believed(walls_ns: list[float], null_ns: float) -> None:
    claims = [wall - null_ns for wall in walls_ns]
    assert not no_time(claims, walls_ns, EXACT)
    assert not too_short(claims, walls_ns, [null_ns], EXACT)


@given(walls)
def test_claims_of_half_the_wall_are_not(walls_ns: list[float]) -> None:
    assert "but the judge waited" in too_short([wall / 2 for wall in walls_ns], walls_ns, [0.0], EXACT)


@given(st.lists(st.floats(1e5, 1e9), min_size=8, max_size=20), st.randoms())
def test_a_busy_host_that_delays_a_quarter_of_the_calls_accuses_nobody(claims: list[float], random: Random) -> None:
    delayed = set(random.sample(range(len(claims)), len(claims) // 4))
    walls_ns = [claim * (50 if index in delayed else 1) for index, claim in enumerate(claims)]
    assert not too_short(claims, walls_ns, [0.0], EXACT)


@given(st.lists(st.floats(1e6, 1e9), min_size=8, max_size=20), st.randoms())
def test_forging_just_enough_calls_to_halve_the_median_is_found_out(walls_ns: list[float], random: Random) -> None:
    forged = set(random.sample(range(len(walls_ns)), len(walls_ns) // 2 + 1))
    claims = [min(walls_ns) / 2 if index in forged else wall for index, wall in enumerate(walls_ns)]
    assert too_short(claims, walls_ns, [0.0], EXACT)


@given(walls, st.floats(1.2, 1e12))
def test_claims_beyond_the_wall_are_not_believed_either(walls_ns: list[float], factor: float) -> None:
    assert "no more than" in no_time([wall * factor for wall in walls_ns], walls_ns, EXACT)


@given(walls)
def test_two_clocks_may_drift_apart(walls_ns: list[float]) -> None:
    assert not no_time([wall * 1.05 for wall in walls_ns], walls_ns, EXACT)


def test_short_calls_are_within_the_slack() -> None:
    rule = replace(EXACT, slack_ns=100e3)
    assert not too_short([1e3], [150e3], [50e3], rule)
    assert too_short([1e3], [250e3], [50e3], rule)


def test_a_host_whose_null_calls_are_slow_too_says_little_of_calls_on_the_cpu_device() -> None:
    claims, nulls = [3.5e6] * 40, [0.1e6] * 20 + [4e6] * 20
    assert not too_short(claims, [7e6] * 40, nulls, CPU_RULE)
    assert too_short(claims, [7e6] * 40, [0.1e6] * 40, CPU_RULE)


def test_a_runner_that_dawdles_over_null_calls_gains_little() -> None:
    assert too_short([1e6] * 20, [60e6] * 20, [59e6] * 20, CPU_RULE)
    here = on_this_machine(GPU_RULE, [20e3] * 21)
    assert here == GPU_RULE, "on a quick machine at most the usual cap is taken off"
    assert too_short([4e3] * 20, [900e3] * 20, [850e3] * 20, here)


def test_honest_calls_are_not_accused_where_every_way_to_a_runner_is_slow() -> None:
    """The figures of the virtual machine with an H200: calls of 4.4 us, waits of 158 us, null calls of 216 us."""
    here = on_this_machine(GPU_RULE, [150e3] * 10 + [190e3] * 11)
    claims, walls, nulls = [4.4e3] * 20, [158e3] * 20, [216e3] * 20
    assert too_short(claims, walls, nulls, GPU_RULE), "the rule has to know the machine"
    assert not too_short(claims, walls, nulls, here)
    assert too_short(claims, [wall + 250e3 for wall in walls], nulls, here), "a forged call takes longer than the way"


@given(st.floats(1e3, 1e9), st.floats(1e3, 9e4), st.floats(0.5, 1))
def test_on_a_gpu_a_time_is_proven_to_three_percent_and_ten_microseconds_by_what_the_judge_waited(
    call_ns: float, null_ns: float, claim: float
) -> None:
    claims, walls_ns = [claim * call_ns] * 20, [call_ns + null_ns] * 20
    waited = waited_call_ns(claims, walls_ns, [null_ns] * 20, GPU_RULE)
    assert waited == pytest.approx(call_ns)
    short = short_of_the_wait(claim * call_ns, [waited], GPU_RULE)
    if claim * call_ns > 0.97 * call_ns - 9_999:
        assert not short
    elif claim * call_ns < 0.97 * call_ns - 10_001:
        assert "the judge waited" in short
    assert not short_of_the_wait(claim * call_ns, [waited], CPU_RULE)


def test_two_short_sessions_that_are_forged_are_found_beside_a_long_honest_one() -> None:
    honest, forged, walls_ns = [500e3] * 2_000, [460e3] * 100, [520e3] * 2_200
    assert not too_short([*honest, *forged, *forged], walls_ns, [20e3], GPU_RULE), "most calls are true"
    waited = [waited_call_ns(claims, walls_ns[: len(claims)], [20e3], GPU_RULE) for claims in (honest, forged, forged)]
    assert short_of_the_wait(460e3, waited, GPU_RULE)
    assert not short_of_the_wait(500e3, waited, GPU_RULE)


def test_calls_of_two_speeds_are_no_doubt() -> None:
    claims = [500e3] * 50 + [530e3] * 50
    ways = [19e3, 21e3] * 50
    waited = waited_call_ns(claims, [claim + way for claim, way in zip(claims, ways, strict=True)], ways, GPU_RULE)
    assert not short_of_the_wait(500e3, [waited], GPU_RULE)


@pytest.mark.parametrize("claim", [0.0, -1.0, math.inf, math.nan])
def test_one_call_that_took_no_time_spoils_them_all(claim: float) -> None:
    assert "no time at all" in no_time([1e6, claim, 1e6], [1e6] * 3, EXACT)


def test_the_floor_is_only_where_roofs_are_known() -> None:
    work, mi300x = Work(5.3e9, 0, 0, "float32"), roofs_of("gfx942", "AMD Instinct MI300X")
    assert "at least 1000.00 us" in (floor_fault(mi300x, work, 0.5e6) or "")
    assert floor_fault(mi300x, work, 1.1e6) is None
    assert floor_fault(None, work, 0.5e6) is None
