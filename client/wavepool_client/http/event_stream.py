"""A submission's events over a connection that may break: every event once, in order, to the last.

The gateway numbers the events of a submission. After a break we ask for the events after the last number that we have
seen, so nothing is lost and nothing comes twice, whichever side was restarted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import httpx

from wavepool_client.errors import ServerError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx_sse

    from wavepool_client.http.retries import Retries

HEARTBEAT = "heartbeat"


@dataclass(frozen=True)
class Event:
    """One step of a submission: its number (from 1), its name, and its data."""

    seq: int
    status: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])


def event_from_frame(frame: httpx_sse.ServerSentEvent) -> Event | None:
    """The event in a frame; None for a heartbeat and for a frame without data, which only sets the retry delay.

    Raises ServerError for a frame that is not ours, and UnreachableError for one without a number: that is no step of
    the submission, but reports that the stream itself broke.
    """
    if not frame.data:
        return None
    try:
        data = cast("object", json.loads(frame.data))
    except ValueError as error:
        raise ServerError(f"an event of the stream is not JSON: {frame.data[:200]!r}") from error
    if not isinstance(data, dict):
        raise ServerError(f"an event of the stream is not a JSON object: {frame.data[:200]!r}")
    fields = cast("dict[str, Any]", data)
    status = str(fields.get("status") or frame.event)
    if status == HEARTBEAT:
        return None
    if not frame.id.isdecimal():
        raise UnreachableError(f"the event stream broke: {fields.get('message') or status}")
    return Event(int(frame.id), status, fields)


def follow(
    open_stream: Callable[[int], Iterator[Event]], is_over: Callable[[], bool], after: int, retries: Retries
) -> Iterator[Event]:
    """Yields the events after number `after`, until the submission is over.

    `open_stream(seq)` gives the events after `seq`, as long as its connection holds. A stream may also end without an
    error because a gateway shut down, so `is_over` decides.
    """
    last = after
    while True:
        cause: Exception | None = None
        try:
            for event in open_stream(last):
                retries.reset()
                if event.seq > last:
                    last = event.seq
                    yield event
            if is_over():
                return
        except (httpx.TransportError, UnreachableError) as error:
            cause = error
        retries.pause(cause)
