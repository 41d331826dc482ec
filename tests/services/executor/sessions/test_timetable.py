"""When a session's users are warned, and when it ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.executor.sessions.timetable import WARNINGS, Timetable

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def warnings_until(timetable: Timetable, begin: datetime, end: datetime, step: timedelta) -> list[tuple[int, datetime]]:
    given_: list[tuple[int, datetime]] = []
    now = begin
    while now <= end:
        if (due := timetable.due(now)) is not None:
            given_.append((due, now))
            timetable = timetable.without(due)
        now += step
    return given_


def test_users_are_warned_30_15_and_5_minutes_before_the_end_and_at_the_end() -> None:
    end = NOW + 60 * MINUTE
    given_ = warnings_until(Timetable.of(end, 2 * MINUTE, NOW), NOW, end, timedelta(seconds=1))

    assert given_ == [(minutes, end - minutes * MINUTE) for minutes in (30, 15, 5, 0)]


def test_a_short_session_is_not_warned_of_what_was_known_from_the_start() -> None:
    timetable = Timetable.of(NOW + 10 * MINUTE, MINUTE, NOW)

    assert timetable.due(NOW) is None
    assert [n for n, _ in warnings_until(timetable, NOW, NOW + 10 * MINUTE, timedelta(seconds=1))] == [5, 0]


def test_signals_come_half_a_minute_before_the_end_of_the_grace_or_in_its_middle() -> None:
    assert Timetable.of(NOW, 2 * MINUTE, NOW).hang_up_time == NOW + timedelta(seconds=90)
    assert Timetable.of(NOW, timedelta(seconds=20), NOW).hang_up_time == NOW + timedelta(seconds=10)
    assert Timetable.of(NOW, timedelta(0), NOW).kill_time == NOW


@given(
    minutes=st.floats(min_value=0.01, max_value=120),
    steps=st.lists(st.floats(min_value=0, max_value=40), max_size=40),
)
def test_however_seldom_somebody_looks_no_warning_comes_twice_or_late_or_out_of_order(
    minutes: float, steps: list[float]
) -> None:
    end = NOW + timedelta(minutes=minutes)
    timetable, now, given_ = Timetable.of(end, MINUTE, NOW), NOW, list[int]()
    for step in steps:
        now += timedelta(minutes=step)
        if (due := timetable.due(now)) is not None:
            given_.append(due)
            timetable = timetable.without(due)
            assert due in WARNINGS
            # The smallest that is due is given: nobody reads "30 minutes" with 3 minutes left.
            assert not [n for n in WARNINGS if n < due and end - n * MINUTE <= now]
        assert timetable.due(now) is None
    assert given_ == sorted(set(given_), reverse=True)
