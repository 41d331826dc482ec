"""The engine against what a person would say of the whole list of readings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.alert_rules.engine import AlertState, Phase, Transition, gone, silence, step
from services.billing.alert_rules.rule import Comparison, Reading, Rule, Severity

START = datetime(2026, 1, 1, tzinfo=UTC)
VALID = timedelta(minutes=3)
ENDS = {Transition.RESOLVED, Transition.CANCELLED}


def rule(
    comparison: Comparison = Comparison.AT_LEAST,
    threshold: float = 10,
    clear: float = 10,
    lasting: timedelta = timedelta(0),
) -> Rule:
    return Rule("r", Severity.WARNING, "x", comparison, threshold, clear, lasting, "")


def at(minutes: float, value: float) -> Reading:
    return Reading("x", value, START + timedelta(minutes=minutes))


def told(rule_: Rule, readings: list[Reading]) -> list[Transition]:
    """What happened, over readings that all came in time."""
    state, happened = AlertState(), list[Transition]()
    for reading in readings:
        state, transitions = step(rule_, state, reading, VALID)
        happened += transitions
    return happened


def test_an_alert_fires_at_the_crossing_and_resolves_by_itself() -> None:
    assert told(rule(), [at(0, 9), at(1, 10), at(2, 11), at(3, 9)]) == [Transition.FIRED, Transition.RESOLVED]


def test_it_is_armed_again_after_it_has_resolved() -> None:
    values = [9, 12, 12, 9, 12]
    happened = told(rule(), [at(minute, value) for minute, value in enumerate(values)])
    assert happened == [Transition.FIRED, Transition.RESOLVED, Transition.FIRED]


def test_a_value_between_the_two_thresholds_keeps_an_alert_as_it_is() -> None:
    values = [9, 8, 10, 8, 9, 6.9, 9]
    happened = told(rule(clear=7), [at(minute, value) for minute, value in enumerate(values)])
    assert happened == [Transition.FIRED, Transition.RESOLVED]


def test_a_breach_that_does_not_last_fires_nothing() -> None:
    happened = told(rule(lasting=timedelta(minutes=5)), [at(0, 11), at(4, 11), at(4.5, 9), at(5, 11), at(9, 11)])
    assert happened == [Transition.PENDING, Transition.CANCELLED, Transition.PENDING]


def test_a_breach_that_lasts_fires_once() -> None:
    happened = told(rule(lasting=timedelta(minutes=5)), [at(minute, 11) for minute in range(9)])
    assert happened == [Transition.PENDING, Transition.FIRED]


def test_a_silent_source_leaves_a_firing_alert_without_data_and_says_so_once() -> None:
    state, _ = step(rule(), AlertState(), at(0, 11), VALID)
    assert silence(state, START + VALID) == (state, ())
    state, happened = silence(state, START + VALID + timedelta(seconds=1))
    assert (state.phase, happened) == (Phase.FIRING, (Transition.NO_DATA,))
    assert silence(state, START + timedelta(days=1)) == (state, ())
    state, happened = step(rule(), state, at(9, 11), VALID)
    assert (state.no_data, happened) == (False, (Transition.DATA_BACK,))


def test_the_duration_of_a_breach_begins_again_after_a_silence() -> None:
    lasting = rule(lasting=timedelta(minutes=5))
    state, _ = step(lasting, AlertState(), at(0, 11), VALID)
    state, _ = silence(state, START + timedelta(minutes=4))
    state, happened = step(lasting, state, at(6, 11), VALID)
    assert happened == (Transition.DATA_BACK,)
    state, happened = step(lasting, state, at(10.9, 11), VALID)
    assert happened == ()
    assert step(lasting, state, at(11, 11), VALID)[1] == (Transition.FIRED,)


@pytest.mark.parametrize(("phase", "end"), [(Phase.FIRING, Transition.RESOLVED), (Phase.PENDING, Transition.CANCELLED)])
def test_an_alert_ends_with_what_it_was_about(phase: Phase, end: Transition) -> None:
    state, happened = gone(AlertState(phase, START, 11, START, VALID, no_data=True), START)
    assert (state.phase, state.no_data, happened) == (Phase.INACTIVE, False, (end,))
    assert gone(state, START) == (state, ())


VALUES = st.lists(st.tuples(st.floats(0.1, 10), st.integers(0, 20)), max_size=40)
"""Minutes since the reading before, and the value."""
COMPARISONS = st.sampled_from(list(Comparison))


def readings_of(steps: list[tuple[float, int]]) -> list[Reading]:
    readings, minute = list[Reading](), 0.0
    for gap, value in steps:
        minute += gap
        readings.append(at(minute, value))
    return readings


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    comparison, threshold, slack = draw(COMPARISONS), draw(st.integers(3, 17)), draw(st.integers(0, 4))
    upward = comparison in {Comparison.AT_LEAST, Comparison.ABOVE}
    lasting = draw(st.sampled_from([timedelta(0), timedelta(minutes=4), timedelta(minutes=15)]))
    return rule(comparison, threshold, threshold - slack if upward else threshold + slack, lasting)


@given(rules(), VALUES)
def test_fired_and_resolved_alternate_and_nothing_repeats(rule_: Rule, steps: list[tuple[float, int]]) -> None:
    happened = told(rule_, readings_of(steps))
    loud = [one for one in happened if one in {Transition.FIRED, Transition.RESOLVED}]
    assert all(earlier is not later for earlier, later in pairwise(loud))
    assert not loud or loud[0] is Transition.FIRED
    assert all(earlier is not later for earlier, later in pairwise(happened))


@given(rules(), VALUES)
def test_at_each_reading_the_alert_fires_exactly_if_the_story_so_far_says_so(
    rule_: Rule, steps: list[tuple[float, int]]
) -> None:
    state = AlertState()
    readings = readings_of(steps)
    for count, reading in enumerate(readings, 1):
        state, _ = step(rule_, state, reading, VALID)
        assert (state.phase is Phase.FIRING) == fires_after(rule_, readings[:count])


def fires_after(rule_: Rule, readings: list[Reading]) -> bool:
    """The definition, by looking back: since the last clear reading some breach lasted long enough."""
    clear = [number for number, reading in enumerate(readings) if rule_.is_cleared(reading.value)]
    since_clear = readings[clear[-1] + 1 :] if clear else readings
    run: list[Reading] = []
    for reading in since_clear:
        run = [*run, reading] if rule_.is_breached(reading.value) else []
        if run and run[-1].time - run[0].time >= rule_.for_duration:
            return True
    return False


@given(rules(), VALUES, st.randoms(use_true_random=False))
def test_repeated_and_late_readings_change_nothing(rule_: Rule, steps: list[tuple[float, int]], random: object) -> None:
    readings = readings_of(steps)
    state, happened = AlertState(), list[Transition]()
    for count, reading in enumerate(readings, 1):
        for again in (reading, reading, random.choice(readings[:count])):  # type: ignore[attr-defined]
            state, transitions = step(rule_, state, again, VALID)
            happened += transitions
    assert happened == told(rule_, readings)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("reading"), st.floats(0, 10), st.integers(0, 20)),
        st.tuples(st.just("silence"), st.floats(0, 10), st.just(0)),
        st.tuples(st.just("gone"), st.floats(0, 10), st.just(0)),
    ),
    max_size=60,
)


@given(rules(), EVENTS)
def test_no_silence_ever_fires_or_resolves_an_alert(rule_: Rule, events: list[tuple[str, float, int]]) -> None:
    state, minute, open_ = AlertState(), 0.0, False
    for kind, gap, value in events:
        minute += gap
        now = START + timedelta(minutes=minute)
        before = state
        if kind == "reading":
            state, happened = step(rule_, state, at(minute, value), VALID)
        elif kind == "silence":
            state, happened = silence(state, now)
            assert state.phase is before.phase
            assert set(happened) <= {Transition.NO_DATA}
        else:
            state, happened = gone(state, now)
            assert not state.is_active
        for one in happened:
            if one in {Transition.PENDING, Transition.FIRED}:
                assert not open_ or before.phase is Phase.PENDING
                open_ = True
            elif one in ENDS:
                assert open_
                open_ = False
        assert open_ == state.is_active
