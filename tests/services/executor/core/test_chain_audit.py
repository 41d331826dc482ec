from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.chain_audit import (
    CPU_CHAIN_RULE,
    GPU_CHAIN_RULE,
    ChainMeasurement,
    ChainRule,
    audit_ratio,
    audited_call_ns,
    chain_doubt,
    chain_fault,
    instruments_apart,
    is_busy,
    is_doubtful,
)

nanoseconds = st.integers(1, 10**10)
rules = st.sampled_from([CPU_CHAIN_RULE, GPU_CHAIN_RULE])
delays = st.lists(st.integers(0, 10**9), min_size=1, max_size=6)


def _chains(call_ns: int, null_ns: int, delays_ns: list[int], calls: int = 4) -> list[ChainMeasurement]:
    walls_ns = [calls * call_ns + null_ns + delay for delay in delays_ns]
    return [ChainMeasurement(calls, wall_ns, null_ns, (call_ns,) * calls, calls) for wall_ns in walls_ns]


def _enough(delays_ns: list[int]) -> list[int]:
    return delays_ns * CPU_CHAIN_RULE.fewest_chains


@given(nanoseconds, nanoseconds, delays, rules)
def test_an_honest_claim_needs_one_undisturbed_chain(
    call_ns: int, null_ns: int, delays_ns: list[int], rule: ChainRule
) -> None:
    assert chain_fault(call_ns, _chains(call_ns, null_ns, [*delays_ns, 0]), rule) is None


@given(st.integers(10**6, 10**10), nanoseconds, delays, rules)
def test_half_of_a_millisecond_or_more_is_never_believed(
    call_ns: int, null_ns: int, delays_ns: list[int], rule: ChainRule
) -> None:
    fault = chain_fault(call_ns / 2, _chains(call_ns, null_ns, _enough(delays_ns)), rule)
    assert fault is not None
    assert "the judge waited" in fault


@given(st.integers(30_000, 10**9), delays)
def test_on_a_gpu_a_fifth_off_thirty_microseconds_is_too_much(call_ns: int, delays_ns: list[int]) -> None:
    assert chain_fault(0.8 * call_ns, _chains(call_ns, 5_000, delays_ns), GPU_CHAIN_RULE) is not None


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
    elif is_near and claim * said_ns > 0.97 * said_ns - 1_999:
        assert not apart
    elif is_near and claim * said_ns < 0.97 * said_ns - 2_001:
        assert apart
    assert not instruments_apart(claim * said_ns, chains, CPU_CHAIN_RULE)


@given(st.integers(30_000, 10**9), st.integers(2, 100))
def test_who_slows_every_empty_chain_gains_nothing_over_one_made_before(call_ns: int, factor: int) -> None:
    slowed = [replace(chain, null_ns=factor * call_ns * 4) for chain in _chains(call_ns, 5_000, [0, 10, 20])]
    assert chain_fault(0.5 * call_ns, slowed, GPU_CHAIN_RULE) is None
    quiet = [replace(chain, quiet_null_ns=5_000) for chain in slowed]
    assert chain_fault(0.5 * call_ns, quiet, GPU_CHAIN_RULE) is not None
    assert chain_fault(call_ns, quiet, GPU_CHAIN_RULE) is None


@given(nanoseconds, nanoseconds, delays, delays, rules)
def test_more_chains_only_ever_speak_for_a_claim(
    call_ns: int, claim_ns: int, delays_ns: list[int], more_ns: list[int], rule: ChainRule
) -> None:
    if not is_doubtful(claim_ns, _chains(call_ns, 1, delays_ns), rule):
        assert not is_doubtful(claim_ns, _chains(call_ns, 1, [*delays_ns, *more_ns]), rule)


@given(st.integers(10**6, 10**9), delays)
def test_on_a_busy_processor_nobody_is_accused(call_ns: int, delays_ns: list[int]) -> None:
    chains = _chains(call_ns, 1_000_000, _enough(delays_ns))
    most_disturbed = [
        replace(chain, null_ns=chain.null_ns * (1 if at % 3 == 0 else 2)) for at, chain in enumerate(chains)
    ]
    assert is_busy(most_disturbed, CPU_CHAIN_RULE)
    assert chain_fault(1, chains, CPU_CHAIN_RULE) is not None
    assert chain_fault(1, most_disturbed, CPU_CHAIN_RULE) is None


@given(st.integers(10**6, 10**9), st.lists(st.integers(10**6, 10**9), min_size=1, max_size=6))
def test_a_chain_that_waited_for_a_processor_accuses_nobody_however_quick_empty_chains_are(
    call_ns: int, waits_ns: list[int]
) -> None:
    waits_ns = _enough([2 * call_ns + wait for wait in waits_ns])
    delayed = _chains(call_ns, 5_000, waits_ns)
    waited = [replace(chain, waited_ns=wait) for chain, wait in zip(delayed, waits_ns, strict=True)]
    assert not is_busy(waited, CPU_CHAIN_RULE)
    assert chain_fault(call_ns, waited, CPU_CHAIN_RULE) is None
    assert chain_fault(call_ns, waited, GPU_CHAIN_RULE) == chain_fault(call_ns, delayed, GPU_CHAIN_RULE)


def test_the_reason_names_what_was_waited() -> None:
    delayed = [replace(chain, waited_ns=9_000_000) for chain in _chains(10**6, 1000, [6_000_000] * 20)]
    doubt = chain_doubt(10**6, delayed, CPU_CHAIN_RULE)
    assert doubt == "the host was too busy: in 200.0 ms of chains, threads waited 180.0 ms for a processor"


@given(st.integers(10**6, 10**9), st.lists(st.integers(0, 10**10), min_size=20, max_size=40))
def test_a_forger_whose_runner_waits_now_and_then_is_found_out_all_the_same(call_ns: int, waits_ns: list[int]) -> None:
    waits_ns = [wait if at % 4 == 0 else 0 for at, wait in enumerate(waits_ns)]
    chains = [
        replace(chain, waited_ns=wait) for chain, wait in zip(_chains(call_ns, 5_000, waits_ns), waits_ns, strict=True)
    ]
    assert chain_fault(call_ns / 2, chains, CPU_CHAIN_RULE) is not None
    overtaken = [replace(chain, waited_ns=2 * chain.wall_ns) for chain in chains[::4]]
    assert chain_fault(call_ns / 2, [*overtaken, *chains], CPU_CHAIN_RULE) is not None


@given(nanoseconds, nanoseconds, st.lists(nanoseconds, min_size=1, max_size=30), rules)
def test_a_claim_is_borne_out_or_untrue_or_its_doubt_has_a_reason(
    call_ns: int, claim_ns: int, nulls_ns: list[int], rule: ChainRule
) -> None:
    chains = [ChainMeasurement(4, 4 * call_ns + null, null, (call_ns,), 4) for null in nulls_ns]
    said = [chain_fault(claim_ns, chains, rule), chain_doubt(claim_ns, chains, rule)]
    assert sum(map(bool, said)) == is_doubtful(claim_ns, chains, rule)


def test_a_few_chains_accuse_nobody_on_the_cpu_device() -> None:
    assert chain_fault(1, _chains(10**9, 10, [0] * 19), CPU_CHAIN_RULE) is None
    assert chain_fault(1, _chains(10**9, 10, [0] * 20), CPU_CHAIN_RULE) is not None


@pytest.mark.parametrize("claim_ns", [0.0, -1.0, math.inf, math.nan])
def test_what_is_no_time_is_a_fault(claim_ns: float) -> None:
    assert chain_fault(claim_ns, [], GPU_CHAIN_RULE) is not None


def test_without_chains_there_is_nothing_to_say() -> None:
    assert chain_fault(1.0, [], GPU_CHAIN_RULE) is None
    assert audited_call_ns([]) is None
    assert audit_ratio(1.0, []) is None


def test_the_ratio_is_of_the_claim_to_the_shortest_chain() -> None:
    chains = _chains(1_000, 50, [300, 0, 900])
    assert audited_call_ns(chains) == 1_000
    assert audit_ratio(950, chains) == pytest.approx(0.95)
    assert audit_ratio(950, [ChainMeasurement(4, 50, 60, (1.0,), 4)]) is None
