from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, reset_tzpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.errors import InvalidFieldError
from services.vmpool.policy.warm_windows import DAYS, machines_to_keep, parse_keep_warm

GPU_TYPES = ("MI300X", "MI210")
OFFICE = "Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1"
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


def kept(text: str, now: datetime) -> dict[str, int]:
    return machines_to_keep(parse_keep_warm(text, GPU_TYPES), now)


def test_a_window_goes_by_the_wall_clock_of_its_zone() -> None:
    assert kept(OFFICE, MONDAY + timedelta(hours=6, minutes=59)) == {}
    assert kept(OFFICE, MONDAY + timedelta(hours=7)) == {"MI300X": 1}
    assert kept(OFFICE, MONDAY + timedelta(hours=17)) == {}


def test_zones_are_known_where_the_system_has_none() -> None:
    reset_tzpath(to=())
    ZoneInfo.clear_cache()
    try:
        assert kept(OFFICE, MONDAY + timedelta(hours=7)) == {"MI300X": 1}
    finally:
        reset_tzpath()
        ZoneInfo.clear_cache()


def test_a_window_follows_daylight_saving_time() -> None:
    summer = datetime(2026, 7, 6, tzinfo=UTC)
    assert kept(OFFICE, summer + timedelta(hours=6)) == {"MI300X": 1}
    assert kept(OFFICE, summer + timedelta(hours=16)) == {}


def test_the_hour_that_the_clock_leaves_out_or_repeats_is_no_trouble() -> None:
    night = "Sun 02:00-03:00 Europe/Berlin MI300X=1"
    skipped, repeated = datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)
    assert [bool(kept(night, skipped + timedelta(minutes=30 * step))) for step in range(5)] == [False] * 5
    open_steps = [step for step in range(8) if kept(night, repeated + timedelta(minutes=30 * step))]
    assert open_steps == [0, 1, 2, 3]


def test_a_window_past_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    text = "Mon 22:00-02:00 UTC MI300X=1"
    assert [bool(kept(text, MONDAY + timedelta(hours=hour))) for hour in (1, 22, 25, 26, 46)] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_where_windows_overlap_the_largest_number_counts() -> None:
    text = f"{OFFICE}; Mon 00:00-24:00 UTC MI300X=3 MI210=1; Sat,Sun 00:00-24:00 UTC MI300X=9"
    assert kept(text, MONDAY + timedelta(hours=9)) == {"MI300X": 3, "MI210": 1}


def test_days_may_run_over_the_end_of_the_week() -> None:
    (window,) = parse_keep_warm("Fri-Mon,Wed 10:00-11:00 UTC MI300X=1", GPU_TYPES)
    assert window.days == {0, 2, 4, 5, 6}


def test_nothing_is_no_window() -> None:
    assert parse_keep_warm(" ; ", GPU_TYPES) == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mon-Fri 08:00-18:00 MI300X=1", "is not of the form 'Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1'"),
        ("Mo 08:00-18:00 UTC MI300X=1", "'Mo' in 'Mo' is not valid; choose Mon, .*nearest is Mon"),
        ("Mon 8-18 UTC MI300X=1", "'8-18' is not of the form 08:00-18:00"),
        ("Mon 08:00-25:00 UTC MI300X=1", "'25:00' is not a time of day; the nearest is 24:00"),
        ("Mon 08:75-18:00 UTC MI300X=1", "the nearest is 08:59"),
        ("Mon 08:00-08:00 UTC MI300X=1", "for the whole day write 00:00-24:00"),
        ("Mon 08:00-18:00 Europe/Berlim MI300X=1", "'Europe/Berlim' is not a known time zone; .*Europe/Berlin"),
        ("Mon 08:00-18:00 ../../etc/passwd MI300X=1", "is not a known time zone"),
        ("Mon 08:00-18:00 UTC MI300=1", "must be one of MI300X, MI210; .*nearest is MI300X"),
        ("Mon 08:00-18:00 UTC MI300X", "'MI300X' is not of the form MI300X=1"),
        ("Mon 08:00-18:00 UTC MI300X=-1", "is not of the form MI300X=1"),
        ("Mon 08:00-18:00 UTC MI300X=1001", "the nearest is 1000"),
    ],
)
def test_what_is_wrong_is_named_with_the_nearest_legal_value(text: str, words: str) -> None:
    with pytest.raises(InvalidFieldError, match=f"^keep_warm: .*{words}"):
        parse_keep_warm(text, GPU_TYPES)


@given(st.text(alphabet="MonFriSat0123456789:-,;= UTCX/Euro\x00"))
def test_any_text_is_read_or_refused_by_field(text: str) -> None:
    try:
        parse_keep_warm(text, GPU_TYPES)
    except InvalidFieldError as error:
        assert error.violations[0][0] == "keep_warm"  # noqa: PT017 - either end is right, and nothing else is


zones = st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia", "UTC"])
minutes = st.integers(0, 24 * 60 - 1)


@given(
    days=st.sets(st.integers(0, 6), min_size=1),
    start=minutes,
    end=minutes,
    zone=zones,
    now=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - hypothesis adds it
)
def test_a_window_is_open_when_the_wall_clock_shows_a_minute_of_it(
    days: set[int], start: int, end: int, zone: str, now: datetime
) -> None:
    if start == end:
        return
    clock = f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02}"
    names = ",".join(DAYS[day] for day in sorted(days))
    local = now.astimezone(ZoneInfo(zone))
    shown = local.weekday() * 1440 + local.hour * 60 + local.minute
    length = (end - start) % 1440
    covered = {(day * 1440 + start + offset) % (7 * 1440) for day in days for offset in range(length)}
    assert bool(kept(f"{names} {clock} {zone} MI300X=1", now)) is (shown in covered)
