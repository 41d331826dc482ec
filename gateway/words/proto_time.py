"""Instants and durations of the protos for JSON; values out of range never raise."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema, WrapValidator

from servicekit.rpc.proto_time import instant_to_proto

NUMBER = re.compile(r"\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR = 1971
LAST = datetime(9000, 1, 1, tzinfo=UTC)
NANOS_PER_SECOND = 1e9
NANOS_PER_MILLISECOND = 1_000_000


def _not_a_number(value: object) -> object:
    """Pydantic takes a number for a time since 1970, in seconds or milliseconds by its size; that is not meant here."""
    if isinstance(value, int | float) or (isinstance(value, str) and NUMBER.fullmatch(value)):
        raise ValueError("must be a day, such as 2026-11-01, or a time, such as 2026-11-01T12:00:00Z")
    return value


NoNumber = BeforeValidator(_not_a_number)
"""For fields with an instant."""
RequestInstant = Annotated[
    datetime,
    NoNumber,
    AfterValidator(lambda instant: instant if instant.tzinfo else instant.replace(tzinfo=UTC)),
    # A day is taken, too; two formats would be two types to generated clients.
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""An instant or a day of a request; it is in UTC unless it says otherwise."""


def _zoned(value: object, parsed: Callable[[object], datetime]) -> datetime:
    try:
        instant = parsed(_not_a_number(value))
    except ValueError:
        instant = None
    if instant is None or instant.tzinfo is None:
        raise ValueError("must be a time with its zone, such as 2026-11-01T12:00:00Z or 2026-11-01T13:00:00+01:00")
    return instant


ZonedInstant = Annotated[datetime, WrapValidator(_zoned), WithJsonSchema({"type": "string", "format": "date-time"})]
"""An instant of a request that says its zone, as in RFC 3339: the people of one pool live in several."""


def seconds_of(duration: Duration) -> float:
    """The duration in seconds."""
    return duration.seconds + duration.nanos / NANOS_PER_SECOND


def milliseconds_of(instant: Timestamp) -> int:
    """Milliseconds since 1970."""
    return instant.seconds * 1000 + instant.nanos // NANOS_PER_MILLISECOND


def timestamp_of(instant: datetime | None) -> Timestamp | None:
    """An instant of a request, which is in UTC unless it says otherwise; None stays None.

    One before 1970 counts as 1970, and one after 9000 as 9000: no date that the calendar has is an error.
    """
    if instant is None:
        return None
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    if aware.replace(tzinfo=UTC).year < FIRST_YEAR:
        return instant_to_proto(EPOCH)
    return instant_to_proto(LAST if aware.replace(tzinfo=UTC) > LAST else aware)


def instant_of(instant: Timestamp) -> datetime | None:
    """The instant; None if it is not set or out of a datetime's range."""
    if not instant.seconds and not instant.nanos:
        return None
    try:
        return EPOCH + timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)
    except OverflowError:
        return None


def text_of(instant: Timestamp) -> str | None:
    """The instant as text, with Z for UTC; None if it is not set or out of a datetime's range."""
    found = instant_of(instant)
    return found.isoformat().replace("+00:00", "Z") if found else None
