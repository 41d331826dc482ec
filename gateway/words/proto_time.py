"""Instants and durations of the protos for JSON; values out of range never raise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from servicekit.rpc.proto_time import instant_to_proto

if TYPE_CHECKING:
    from google.protobuf.duration_pb2 import Duration
    from google.protobuf.timestamp_pb2 import Timestamp

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NANOS_PER_SECOND = 1e9
NANOS_PER_MILLISECOND = 1_000_000


def seconds_of(duration: Duration) -> float:
    """The duration in seconds."""
    return duration.seconds + duration.nanos / NANOS_PER_SECOND


def milliseconds_of(instant: Timestamp) -> int:
    """Milliseconds since 1970."""
    return instant.seconds * 1000 + instant.nanos // NANOS_PER_MILLISECOND


def timestamp_of(instant: datetime | None) -> Timestamp | None:
    """An instant of a request, which is in UTC unless it says otherwise; None stays None."""
    if instant is None:
        return None
    return instant_to_proto(instant if instant.tzinfo else instant.replace(tzinfo=UTC))


def instant_of(instant: Timestamp) -> datetime | None:
    """The instant; None if it is not set or out of a datetime's range."""
    if not instant.seconds and not instant.nanos:
        return None
    try:
        return EPOCH + timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)
    except OverflowError:
        return None
