"""Instants as protobuf's well-known timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.timestamp_pb2 import Timestamp

if TYPE_CHECKING:
    from datetime import datetime


def instant_to_proto(instant: datetime | None) -> Timestamp | None:
    """A timestamp for an aware instant; None leaves the field unset."""
    if instant is None:
        return None
    timestamp = Timestamp()
    timestamp.FromDatetime(instant)
    return timestamp
