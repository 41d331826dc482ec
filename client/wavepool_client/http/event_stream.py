"""A submission's events over a connection that may break: every event once, in order, to the last.

The gateway numbers the events of a submission. After a break we ask for the events after the last number that we have
seen, so nothing is lost and nothing comes twice, whichever side was restarted.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import httpx

from wavepool_client.errors import ServerError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx_sse

HEARTBEAT = "heartbeat"
FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
"""Seconds without a single frame before the gateway counts as unreachable."""


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


@dataclass
class Retries:
    """Waits longer after each failure in a row, and gives up if nothing came for `give_up_seconds`."""

    give_up_seconds: float = GIVE_UP_SECONDS
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    _failures: int = 0
    _since: float | None = None

    def reset(self) -> None:
        """Notes that a frame came, and starts over."""
        self._failures, self._since = 0, None

    def pause(self, cause: Exception | None) -> None:
        """Waits before the next try; raises UnreachableError after `give_up_seconds` of failures."""
        now = self.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since > self.give_up_seconds:
            raise UnreachableError(
                f"no answer for {self.give_up_seconds:g} s: {cause or 'the stream ended'}"
            ) from cause
        self.sleep(min(FIRST_DELAY_SECONDS * 2**self._failures, LONGEST_DELAY_SECONDS))
        self._failures += 1


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
