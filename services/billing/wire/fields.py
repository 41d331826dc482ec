"""Converts what several messages have: instants and durations, which may be out of range, and page tokens."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp

Member = TypeVar("Member", bound=Enum)


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


def numbers_of(members: type[Member], named: Iterable[tuple[str, Any]], prefix: str) -> dict[Member, Any]:
    """The numbers in a proto's enum of the members of ours that have the same names there; the others are left out."""
    numbers = dict(named)
    return {one: numbers[name] for one in members if (name := f"{prefix}_{one.name}") in numbers}


def page_token(listed: str, seq: int) -> str:
    """The token of the page before this sequence number, in the list of this name, such as an account's id."""
    return base64.urlsafe_b64encode(f"{listed}/{seq}".encode()).decode()


def page_token_from_proto(listed: str, token: str, words: str) -> int | None:
    """Sequence number before which the page begins; None for the first.

    A foreign token raises InvalidFieldError, with the list in `words`.
    """
    if not token:
        return None
    try:
        name, seq = base64.urlsafe_b64decode(token.encode()).decode().split("/")
        if name == listed:
            return int(seq)
    except (ValueError, binascii.Error):
        pass
    raise InvalidFieldError("page_token", f"was not given out for {words}; begin again without one")
