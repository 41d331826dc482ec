"""Reads when something is to start, as people write it, and writes instants for people; pure.

A text without a zone is of the zone of this machine, in which instants are written, too.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from wavepool_client.errors import InputError

FORMS = "give `09:30`, `tomorrow 09:30`, `+2h`, `+1h30m`, `2026-11-28 09:30`, or with a zone `2026-11-28T09:30+01:00`"
_UNITS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
_AHEAD = re.compile(r"\+(?:\d+(?:\.\d+)?[dhms])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])")
_CLOCK = re.compile(r"(?:(today|tomorrow)\s+)?(\d{1,2}):(\d{2})", re.IGNORECASE)
_DATE_ONLY = re.compile(r"\d{4}-?\d{2}-?\d{2}")


def start_of(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """The instant, in UTC and whole seconds; `HH:MM` is the next such time. Raises InputError."""
    said = text.strip()
    try:
        found = _ahead(said, now) or _clock(said, now, zone) or _instant(said, zone)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise InputError(f"--start: is {text!r}; {FORMS}")
    return found.astimezone(UTC).replace(microsecond=0)


def time_text(value: object, zone: tzinfo | None = None) -> str:
    """An instant in local time with its zone, such as `2026-11-28 09:30:00 UTC+01:00`; empty if it is none."""
    instant = instant_of(value)
    if instant is None:
        return ""
    offset = f"{instant.astimezone(zone):%z}"
    away = "" if offset == "+0000" else f"{offset[:3]}:{offset[3:5]}"
    return f"{instant.astimezone(zone):%Y-%m-%d %H:%M:%S} UTC{away}"


def instant_of(value: object) -> datetime | None:
    """The instant in a field of the API; None if it has none."""
    try:
        instant = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return instant if instant.tzinfo else None


def _ahead(said: str, now: datetime) -> datetime | None:
    if not _AHEAD.fullmatch(said.casefold()):
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(said.casefold()))
    return now + timedelta(seconds=seconds)


def _clock(said: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    match = _CLOCK.fullmatch(said)
    if match is None:
        return None
    day, at = (match[1] or "").casefold(), time(int(match[2]), int(match[3]))
    today = now.astimezone(zone).date()
    if day == "tomorrow":
        return _local(today + timedelta(days=1), at, zone)
    found = _local(today, at, zone)
    return found if day or found > now else _local(today + timedelta(days=1), at, zone)


def _instant(said: str, zone: tzinfo | None) -> datetime | None:
    if _DATE_ONLY.fullmatch(said):
        return None
    found = datetime.fromisoformat(said)
    return found if found.tzinfo else _local(found.date(), found.time(), zone)


def _local(day: date, at: time, zone: tzinfo | None) -> datetime:
    naive = datetime.combine(day, at)
    return naive.replace(tzinfo=zone) if zone else naive.astimezone()
