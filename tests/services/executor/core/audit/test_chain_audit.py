from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.audit.chain_audit import (
    CPU_CHAIN_RULE,
    GPU_CHAIN_RULE,
    ChainMeasurement,
    ChainRule,
    audit_ratio,
    audited_call_ns,
    instruments_apart,
    shortfall,
)

nanoseconds = st.integers(1, 10**10)
rules = st.sampled_from([CPU_CHAIN_RULE, GPU_CHAIN_RULE])
delays = st.lists(st.integers(0, 10**9), min_size=1, max_size=6)


def _chains(call_ns: int, null_ns: int, delays_ns: list[int], calls: int = 4) -> list[ChainMeasurement]:
    walls_ns = [calls * call_ns + null_ns + delay for delay in delays_ns]
    return [ChainMeasurement(calls, wall_ns, null_ns, (call_ns,) * calls, calls) for wall_ns in walls_ns]


@given(nanoseconds, nanoseconds, delays, rules)
def test_an_honest_claim_needs_one_undisturbed_chain(
    call_ns: int, null_ns: int, delays_ns: list[int], rule: ChainRule
) -> None:
    assert not shortfall(call_ns, _chains(call_ns, null_ns, [*delays_ns, 0]), rule)


@given(st.integers(10**6, 10**10), nanoseconds, delays, rules)
def test_half_of_a_millisecond_or_more_is_never_believed(
    call_ns: int, null_ns: int, delays_ns: list[int], rule: ChainRule
) -> None:
    assert "the judge waited" in shortfall(call_ns / 2, _chains(call_ns, null_ns, delays_ns), rule)


@given(st.integers(30_000, 10**9), delays)
def test_on_a_gpu_a_fifth_off_thirty_microseconds_is_too_much(call_ns: int, delays_ns: list[int]) -> None:
    assert shortfall(0.8 * call_ns, _chains(call_ns, 5_000, delays_ns), GPU_CHAIN_RULE)


@given(st.integers(1, 10**9), delays, st.floats(0.5, 1), st.floats(0.5, 2))
def test_a_time_is_proven_if_claim_events_and_the_judges_clock_agree_in_one_chain(
    call_ns: int, delays_ns: list[int], claim: float, events: float
) -> None:
    said_ns = events * call_ns
    chains = [replace(chain, events_ns=(said_ns,)) for chain in _chains(call_ns, 5_000, [*delays_ns, 0])]
    apart = instruments_apart(claim * said_ns, chains, GPU_CHAIN_RULE)
    is_near = said_ns > 0.97 * call_ns - 1_999 and call_ns > 0.97 * said_ns - 1_999
    if said_ns < 0.97 * call_ns - 2_001 or (call_ns < 0.97 * said_ns - 2_001 and not any(delays_ns)):
        assert "and the judge's clock" in apart
    elif is_near and claim * said_ns > 0.97 * max(said_ns, call_ns) - 1_999:
        assert not apart
    elif is_near and claim * said_ns < 0.97 * max(said_ns, call_ns) - 2_001:
        assert apart
    assert not instruments_apart(claim * said_ns, chains, CPU_CHAIN_RULE)


@given(st.integers(100_000, 10**9), st.floats(0.5, 0.94))
def test_events_of_a_chain_that_are_short_but_for_a_few_long_ones_prove_no_claim(call_ns: int, forged: float) -> None:
    short, long = forged * call_ns, (32 - 17 * forged) / 15 * call_ns
    [chain] = _chains(call_ns, 5_000, [0], calls=32)
    chain = replace(chain, events_ns=(short,) * 17 + (long,) * 15)
    assert "a call is said to take" in instruments_apart(short, [chain], GPU_CHAIN_RULE)
    assert not instruments_apart(call_ns, [chain], GPU_CHAIN_RULE)


@given(st.integers(30_000, 10**9), st.integers(2, 100))
def test_who_slows_all_empty_chains_but_one_gains_nothing(call_ns: int, factor: int) -> None:
    slowed = [replace(chain, null_ns=factor * call_ns * 4) for chain in _chains(call_ns, 5_000, [0, 10, 20])]
    assert not shortfall(0.5 * call_ns, slowed, GPU_CHAIN_RULE)
    quiet = [*slowed[1:], replace(slowed[0], null_ns=5_000)]
    assert shortfall(0.5 * call_ns, quiet, GPU_CHAIN_RULE)
    assert not shortfall(call_ns, quiet, GPU_CHAIN_RULE)


@given(st.integers(20_000, 10**9), st.integers(50_000, 250_000), st.floats(0, 1))
def test_what_the_way_to_the_runner_explains_accuses_nobody_and_proves_nothing(
    call_ns: int, way_ns: int, share: float
) -> None:
    rule = replace(GPU_CHAIN_RULE, way_ns=float(way_ns))
    chains = _chains(call_ns, 8_000_000, [round(share * way_ns)] * 6, calls=32)
    assert not shortfall(call_ns, chains, rule)
    if share * way_ns / 32 > 2_001 + 0.04 * call_ns:
        assert instruments_apart(call_ns, chains, rule)
    assert shortfall(0.8 * call_ns - way_ns / 32 - 2_001, chains, rule)


def test_an_honest_kernel_of_twenty_microseconds_on_an_h200_is_unproven_and_not_accused() -> None:
    chains = _chains(23_700, 8_000_000, [227_000] * 6, calls=32)
    assert shortfall(22_879, chains, GPU_CHAIN_RULE)
    rule = replace(GPU_CHAIN_RULE, way_ns=130e3)
    assert not shortfall(22_879, chains, rule)
    assert "23.7 us of each call, and the judge's clock 30.8 us" in instruments_apart(22_879, chains, rule)


@given(nanoseconds, nanoseconds, delays, delays, rules)
def test_more_chains_only_ever_speak_for_a_claim(
    call_ns: int, claim_ns: int, delays_ns: list[int], more_ns: list[int], rule: ChainRule
) -> None:
    if not shortfall(claim_ns, _chains(call_ns, 1, delays_ns), rule):
        assert not shortfall(claim_ns, _chains(call_ns, 1, [*delays_ns, *more_ns]), rule)


def test_without_chains_there_is_nothing_to_say() -> None:
    assert not shortfall(1.0, [], GPU_CHAIN_RULE)
    assert audited_call_ns([]) is None
    assert audit_ratio(1.0, []) is None


def test_the_ratio_is_of_the_claim_to_the_shortest_chain() -> None:
    chains = _chains(1_000, 50, [300, 0, 900])
    assert audited_call_ns(chains) == 1_000
    assert audit_ratio(950, chains) == pytest.approx(0.95)
    assert audit_ratio(950, [ChainMeasurement(4, 50, 60, (1.0,), 4)]) is None
