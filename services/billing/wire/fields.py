"""Converts instants and durations of requests, which may be out of range."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp


def duration_from_proto(field: str, duration: Duration) -> timedelta:
    """The duration; raises InvalidFieldError if it is none."""
    try:
        return duration.ToTimedelta()
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError(field, f"is not a duration: {error}") from error


def time_from_proto(field: str, duration: Duration) -> timedelta:
    """The duration, which is not negative; raises InvalidFieldError."""
    time = duration_from_proto(field, duration)
    if time < timedelta(0):
        raise InvalidFieldError(field, "must not be negative")
    return time


def instant_from_proto(field: str, timestamp: Timestamp) -> datetime:
    """The instant, in UTC; raises InvalidFieldError if it is none."""
    try:
        return timestamp.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError(field, f"is not an instant: {error}") from error


def optional_instant(field: str, message: Message, timestamp: Timestamp) -> datetime | None:
    """The instant in a message's field; None if it is not set. Raises InvalidFieldError."""
    return instant_from_proto(field, timestamp) if message.HasField(field) else None
