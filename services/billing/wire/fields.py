"""Converts what several messages have: instants and durations, which may be out of range, and page tokens."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from services.billing.errors import InvalidFieldError

Member = TypeVar("Member", bound=StrEnum)


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


def member_from_proto(field: str, number: int, named: Any, members: type[Member]) -> Member:  # noqa: ANN401 - generated
    """The member with the name that the number has in the proto's enum; raises InvalidFieldError if none has it."""
    unset = named.Name(named.values()[0])
    for member in members:
        if named.Value(unset.replace("UNSPECIFIED", member.name)) == number:
            return member
    raise InvalidFieldError(field, f"must be one of {', '.join(members)}")


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
