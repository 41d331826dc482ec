"""The current time and fresh ids, passed in so that decisions do not depend on globals."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Protocol

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TIME_CHARACTERS = 10
RANDOM_CHARACTERS = 16
SHOWN_CHARACTERS = 6


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return datetime.now(UTC)


class ManualClock:
    """A clock that moves only when told to."""

    def __init__(self, start: datetime) -> None:
        self._now = start

    def now(self) -> datetime:
        """The time that it was last set to."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Moves the clock forward."""
        self._now += by


def new_id(prefix: str) -> str:
    """A fresh id such as `job_01J9Z3…`: ids sort by creation time (in milliseconds), and nobody can guess one.

    The part after the prefix has the layout of a ULID: 48 bits of time, 80 random bits, Crockford's base 32.
    """
    milliseconds = int(datetime.now(UTC).timestamp() * 1000)
    random_bits = int.from_bytes(os.urandom(10), "big")
    return f"{prefix}_{_base32(milliseconds, TIME_CHARACTERS)}{_base32(random_bits, RANDOM_CHARACTERS)}"


def short_id(long_id: str) -> str:
    """Shortens an id for messages, such as `mach_…7Q2F9X`; its end tells ids apart."""
    prefix, separator, code = long_id.rpartition("_")
    return f"{prefix}{separator}…{code[-SHOWN_CHARACTERS:]}" if len(code) > SHOWN_CHARACTERS else long_id


def _base32(number: int, length: int) -> str:
    return "".join(CROCKFORD[(number >> (5 * place)) & 31] for place in reversed(range(length)))
