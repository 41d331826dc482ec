"""The keep-warm schedule: windows of the week in which machines are kept ready even if no jobs wait.

    VMPOOL_KEEP_WARM="Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1; Sat,Sun 22:00-02:00 UTC MI300X=1 MI210=2"

A window follows the wall clock of its time zone, and so daylight saving time. A window that ends before it begins runs
past midnight, and belongs to the day on which it begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from services.vmpool.errors import InvalidFieldError
from services.vmpool.machines.order_checks import check_gpu_type
from vocabulary.names import nearest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

FIELD = "keep_warm"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MINUTES_PER_DAY = 24 * 60
MOST_MACHINES = 1000
_FORM = "Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1"
_FEWEST_WORDS = 4
_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_COUNT = re.compile(r"([^=]+)=(\d{1,9})")


@dataclass(frozen=True)
class WarmWindow:
    """A window on some days of the week. `days` count from 0, Monday; minutes from midnight, `end_minute` to 1440.

    `counts` are pairs of a GPU type and a number of machines.
    """

    days: frozenset[int]
    start_minute: int
    end_minute: int
    zone: tzinfo
    counts: tuple[tuple[str, int], ...]

    def is_open(self, now: datetime) -> bool:
        """True if the wall clock shows a time in the window."""
        local = now.astimezone(self.zone)
        minute = local.hour * 60 + local.minute
        if self.start_minute < self.end_minute:
            return local.weekday() in self.days and self.start_minute <= minute < self.end_minute
        yesterday = (local - timedelta(days=1)).weekday()
        return (local.weekday() in self.days and minute >= self.start_minute) or (
            yesterday in self.days and minute < self.end_minute
        )


def machines_to_keep(windows: Iterable[WarmWindow], now: datetime) -> dict[str, int]:
    """Number of machines to keep ready, by GPU type. If windows overlap, the largest number counts."""
    floor: dict[str, int] = {}
    for window in windows:
        if window.is_open(now):
            for gpu_type, count in window.counts:
                floor[gpu_type] = max(floor.get(gpu_type, 0), count)
    return floor


def parse_keep_warm(text: str, gpu_types: Sequence[str]) -> tuple[WarmWindow, ...]:
    """Parse windows, separated by semicolons; InvalidFieldError names the fault."""
    return tuple(_window(part.strip(), gpu_types) for part in text.split(";") if part.strip())


def _window(text: str, gpu_types: Sequence[str]) -> WarmWindow:
    words = text.split()
    if len(words) < _FEWEST_WORDS:
        raise InvalidFieldError(FIELD, f"{text!r} is not of the form {_FORM!r}")
    days, times, zone, *counts = words
    start, end = _times(times)
    return WarmWindow(_days(days), start, end, _zone(zone), _counts(counts, gpu_types))


def _days(text: str) -> frozenset[int]:
    days: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        begin, end = _day(first, text), _day(last if dash else first, text)
        days.update((begin + offset) % len(DAYS) for offset in range((end - begin) % len(DAYS) + 1))
    return frozenset(days)


def _day(name: str, text: str) -> int:
    for index, day in enumerate(DAYS):
        if day.casefold() == name.casefold():
            return index
    raise InvalidFieldError(
        FIELD, f"{name!r} in {text!r} is not valid; choose {', '.join(DAYS)}; the nearest is {nearest_name(name, DAYS)}"
    )


def _times(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    start, end = _minute(first, text), _minute(last, text)
    if start in {end, MINUTES_PER_DAY}:
        raise InvalidFieldError(FIELD, f"{text!r} has no length; for the whole day write 00:00-24:00")
    return start, end


def _minute(time: str, text: str) -> int:
    found = _TIME.fullmatch(time)
    hour, minute = (int(found[1]), int(found[2])) if found else (0, 0)
    if not found:
        raise InvalidFieldError(FIELD, f"{text!r} is not of the form 08:00-18:00")
    if hour * 60 + minute > MINUTES_PER_DAY or minute >= 60:  # noqa: PLR2004 - minutes of an hour
        nearest = f"{min(hour, 23):02}:{min(minute, 59):02}" if hour < 24 else "24:00"  # noqa: PLR2004 - hours of a day
        raise InvalidFieldError(FIELD, f"{time!r} is not a time of day; the nearest is {nearest}")
    return hour * 60 + minute


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        nearest = nearest_name(name, sorted(available_timezones())) or "UTC"
        raise InvalidFieldError(FIELD, f"{name!r} is not a known time zone; the nearest is {nearest}") from None


def _counts(words: Sequence[str], gpu_types: Sequence[str]) -> tuple[tuple[str, int], ...]:
    counts: list[tuple[str, int]] = []
    for word in words:
        found = _COUNT.fullmatch(word)
        if not found:
            raise InvalidFieldError(FIELD, f"{word!r} is not of the form MI300X=1")
        count = int(found[2])
        if count > MOST_MACHINES:
            raise InvalidFieldError(FIELD, f"{word!r} keeps too many machines; the nearest is {MOST_MACHINES}")
        counts.append((check_gpu_type(found[1], gpu_types, FIELD), count))
    return tuple(counts)
