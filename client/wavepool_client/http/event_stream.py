"""A submission's events over a connection that may break: every event once, in order, to the last.

The gateway numbers events within a submission. After a break we ask for what follows the last number that we have
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
"""How long we go on without a single frame before we say that the gateway is unreachable."""


@dataclass(frozen=True)
class Event:
    """One step of a submission: its number (from 1), its name, and what it carries."""

    seq: int
    status: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])


def event_from_frame(frame: httpx_sse.ServerSentEvent) -> Event | None:
    """The event in a frame; None for a heartbeat and for a frame without data, which only sets the retry delay.

    Raises ServerError for a frame that is not one of ours, and UnreachableError for one without a number: that is no
    step of the submission, but says that the stream itself broke.
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
        """A frame came: start over."""
        self._failures, self._since = 0, None

    def pause(self, cause: Exception | None) -> None:
        """Wait before the next try; raises UnreachableError once it is hopeless."""
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
    """The events after number `after`, until the submission is over.

    `open_stream(seq)` gives the events that follow `seq`, as far as its connection holds. A stream that ends in good
    order may still be one that a gateway cut off while it shut down: `is_over` tells.
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
