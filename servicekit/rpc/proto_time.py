"""Converts instants and durations to protobuf's well-known types."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import overload

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp


def instant_to_proto(instant: datetime | None) -> Timestamp | None:
    """The timestamp of an aware instant; None leaves the field unset."""
    if instant is None:
        return None
    timestamp = Timestamp()
    timestamp.FromDatetime(instant)
    return timestamp


@overload
def duration_to_proto(duration: timedelta) -> Duration: ...


@overload
def duration_to_proto(duration: timedelta | None) -> Duration | None: ...


def duration_to_proto(duration: timedelta | None) -> Duration | None:
    """The message for a duration; None leaves the field unset."""
    if duration is None:
        return None
    message = Duration()
    message.FromTimedelta(duration)
    return message
