"""When a reservation is to start, as people write it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from wavepool_client.errors import InputError
from wavepool_client.text.start_times import start_of, time_text

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 27, 11, 0, 0, 500, tzinfo=UTC)
"""Noon in Berlin."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+2h", "2026-11-27T13:00:00+00:00"),
        ("+1h30m", "2026-11-27T12:30:00+00:00"),
        ("+0.5D", "2026-11-27T23:00:00+00:00"),
        ("+45s", "2026-11-27T11:00:45+00:00"),
        ("12:01", "2026-11-27T11:01:00+00:00"),
        ("12:00", "2026-11-28T11:00:00+00:00"),
        ("9:30", "2026-11-28T08:30:00+00:00"),
        ("today 09:30", "2026-11-27T08:30:00+00:00"),
        ("Tomorrow 09:00", "2026-11-28T08:00:00+00:00"),
        ("2026-11-28 09:30", "2026-11-28T08:30:00+00:00"),
        ("2026-11-28T09:30:15", "2026-11-28T08:30:15+00:00"),
        ("2026-11-28T09:30+05:30", "2026-11-28T04:00:00+00:00"),
        ("2026-11-28T09:30Z", "2026-11-28T09:30:00+00:00"),
        ("2026-07-01 09:30", "2026-07-01T07:30:00+00:00"),
    ],
)
def test_a_start_without_a_zone_is_local_time(text: str, expected: str) -> None:
    assert start_of(text, NOW, BERLIN).isoformat() == expected


@pytest.mark.parametrize(
    "text",
    ["", "soon", "25:00", "12:60", "+2", "2h", "+h", "tomorrow", "2026-11-28", "20261128", "+99999999999d"],
)
def test_what_is_no_time_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(InputError, match=r"--start: is .*; give `09:30`"):
        start_of(text, NOW, BERLIN)


def test_the_zone_of_this_machine_counts_if_none_is_given() -> None:
    start = start_of("2026-11-28 09:30", NOW)
    assert start.astimezone().replace(tzinfo=None) == datetime(2026, 11, 28, 9, 30)  # noqa: DTZ001 - local time
    assert timedelta(0) < start_of("09:30", NOW) - NOW <= timedelta(days=1)


def test_an_instant_is_shown_with_its_zone() -> None:
    instant = "2026-11-28T08:30:00.123456Z"
    assert time_text(instant, BERLIN) == "2026-11-28 09:30:00 UTC+01:00"
    assert time_text(instant, UTC) == "2026-11-28 08:30:00 UTC"
    assert (time_text(None), time_text("2026-11-28")) == ("", "")
