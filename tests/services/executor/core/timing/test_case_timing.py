from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.timing.benchmark_result import Timing
from services.executor.core.timing.case_timing import (
    LAUNCHED_BY_SUBMISSION,
    WIDEST_INTERVAL,
    TimingFacts,
    shown_interval,
    timing_of,
    too_wide,
    unproven_run_because,
    worst_timing,
)

PROVEN = TimingFacts()
BUSY = "the machine was too busy to measure: run again"
every_fact = st.builds(
    TimingFacts,
    fault=st.sampled_from(["", "too short"]),
    launched_by_submission=st.sampled_from(["", LAUNCHED_BY_SUBMISSION]),
    sessions_agree=st.booleans(),
    half_width=st.sampled_from([0.0, 0.05, 0.21, 1.0, 13.05]),
    may_be_wide=st.booleans(),
    doubts=st.sampled_from([(), (BUSY,)]),
)


@given(every_fact)
def test_a_time_is_valid_only_if_nothing_at_all_is_against_it(facts: TimingFacts) -> None:
    against = (
        facts.fault
        or facts.launched_by_submission
        or facts.doubts
        or not facts.sessions_agree
        or facts.half_width > WIDEST_INTERVAL
    )
    assert (timing_of(facts) is Timing.VALID) == (not against)


@pytest.mark.parametrize(
    ("facts", "timing"),
    [
        (PROVEN, Timing.VALID),
        (replace(PROVEN, launched_by_submission=LAUNCHED_BY_SUBMISSION), Timing.UNPROVEN),
        (replace(PROVEN, doubts=(BUSY,)), Timing.UNPROVEN),
        (replace(PROVEN, half_width=0.051), Timing.UNSTABLE),
        (replace(PROVEN, half_width=0.05), Timing.VALID),
        (replace(PROVEN, sessions_agree=False, doubts=(BUSY,)), Timing.UNSTABLE),
        (replace(PROVEN, fault="too short", sessions_agree=False, doubts=(BUSY,)), Timing.INVALID),
    ],
)
def test_a_finding_comes_before_the_want_of_one(facts: TimingFacts, timing: Timing) -> None:
    assert timing_of(facts) is timing


def test_a_wide_interval_stands_beside_the_word_on_a_device_that_never_ranks() -> None:
    wide = replace(PROVEN, half_width=0.21, may_be_wide=True)
    assert (timing_of(wide), shown_interval(wide)) == (Timing.UNSTABLE, 0.21)
    assert timing_of(replace(wide, doubts=(BUSY,))) is Timing.UNPROVEN
    assert shown_interval(replace(wide, half_width=0.05)) == 0
    assert shown_interval(replace(wide, may_be_wide=False)) == 0


def test_an_interval_that_says_nothing_is_not_shown_and_worth_another_try() -> None:
    """13.05 was seen: 42 samples of three processes on a loaded machine, with a call of 24 us that took 0.6 ms."""
    nothing = replace(PROVEN, half_width=13.05, may_be_wide=True)
    assert (timing_of(nothing), shown_interval(nothing), too_wide(nothing)) == (Timing.UNSTABLE, 0, True)
    assert not too_wide(replace(nothing, half_width=1.0))


def test_the_author_reads_every_reason_and_what_to_change() -> None:
    facts = replace(PROVEN, launched_by_submission=LAUNCHED_BY_SUBMISSION, doubts=(BUSY,))
    assert facts.unproven_because == f"{LAUNCHED_BY_SUBMISSION}; {BUSY}"
    assert "Send kernels with a launch plan" in LAUNCHED_BY_SUBMISSION
    assert PROVEN.unproven_because == ""


def test_a_run_has_the_worst_timing_of_its_cases() -> None:
    assert worst_timing([Timing.VALID, Timing.UNPROVEN]) is Timing.UNPROVEN
    assert worst_timing([Timing.UNPROVEN, Timing.UNSTABLE, Timing.VALID]) is Timing.UNSTABLE
    assert worst_timing(Timing) is Timing.INVALID
    assert worst_timing([Timing.VALID]) is Timing.VALID


def test_a_run_gives_a_reason_once_if_all_cases_share_it_and_else_names_the_case() -> None:
    assert unproven_run_because([("a", BUSY), ("b", BUSY)]) == BUSY
    assert unproven_run_because([("a", ""), ("b", BUSY), ("c", "idle")]) == f"case `b` (and 1 more): {BUSY}"
    assert unproven_run_because([("a", ""), ("b", BUSY)]) == f"case `b`: {BUSY}"
    assert unproven_run_because([("a", "")]) == ""
