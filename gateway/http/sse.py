"""Transport of event streams: heartbeats, headers, resume points, and a timeout for clients that stop reading."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import aclosing, contextmanager
from datetime import timedelta
from functools import partial

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import SendTimeoutError
from starlette.types import Receive, Scope, Send

from gateway.config import GatewaySettings
from gateway.http.address_limit import network_of
from gateway.http.errors import RATE_LIMIT_EXCEEDED, FieldError, Problem, ProblemError
from gateway.metrics import streams_open
from gateway.words.json_values import to_json
from servicekit.logging import get_logger

StillAllowed = Callable[[], Awaitable[bool]]

log = get_logger(__name__)

RETRY = b"retry: 2000\n\n"
"""Milliseconds that a client waits before it connects again."""
STILL_ALLOWED = "still_allowed"
"""Name, in the state of a request, of a function that says if the caller may go on reading."""
HEADERS = {"Cache-Control": "no-cache, no-transform"}


PLACE_FREE_SECONDS = 5.0
"""When a client that found no place for its stream may look again."""


EVERYBODY = "all"


class OpenStreams:
    """Counts the event streams that are open at this gateway, and refuses more than the settings allow."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._open = Counter[str]()

    @contextmanager
    def place_for(self, user_id: str, host: str) -> Generator[None]:
        """A place for one more; raises ProblemError: 429 beyond a user's or an address's own, 503 if all are taken."""
        settings = self._settings
        own = {
            f"user {user_id}": ("You have", settings.streams_per_user, "GATEWAY_STREAMS_PER_USER"),
            f"at {network_of(host)}": ("Your address has", settings.streams_per_address, "GATEWAY_STREAMS_PER_ADDRESS"),
        }
        for holder, (who, most, setting) in own.items():
            if self._open[holder] >= most:
                detail = (
                    f"{who} {most} event streams open, which is the limit. Close one, or try again in "
                    f"{PLACE_FREE_SECONDS:g} s; the operator can raise {setting}."
                )
                wait = PLACE_FREE_SECONDS
                raise ProblemError(Problem(429, detail, retry_after_seconds=wait, code=RATE_LIMIT_EXCEEDED))
        if self._open[EVERYBODY] >= settings.streams:
            taken = (
                f"This gateway has {settings.streams} event streams open, which is the limit. Try again in "
                f"{PLACE_FREE_SECONDS:g} s; the operator can raise GATEWAY_STREAMS."
            )
            raise ProblemError(Problem(503, taken, retry_after_seconds=PLACE_FREE_SECONDS))
        holders = (*own, EVERYBODY)
        self._open.update(holders)
        try:
            with streams_open.track_inprogress():
                yield
        finally:
            self._open.subtract(holders)
            for holder in [holder for holder in holders if not self._open[holder]]:
                del self._open[holder]


class EventStream(EventSourceResponse):
    """A response that streams frames, with heartbeats between them."""

    def __init__(
        self,
        frames: AsyncGenerator[bytes],
        heartbeat_interval: timedelta,
        send_timeout: timedelta,
        headers: Mapping[str, str] | None = None,
        submission_id: str = "",
    ) -> None:
        """Adds `submission_id` to every heartbeat, if the stream is that of a submission."""
        self._still_allowed: StillAllowed | None = None
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - its annotation has a bare dict
            self._opened(frames),
            headers={**HEADERS, **(headers or {})},
            ping=heartbeat_interval.total_seconds(),
            ping_message_factory=partial(heartbeat, submission_id),
            send_timeout=send_timeout.total_seconds(),
            sep="\n",
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams until the last frame, or until the client is gone, has stopped reading, or may not read any more."""
        self._still_allowed = scope.get("state", {}).get(STILL_ALLOWED)
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError:
            log.info("a client stopped reading; it can resume")

    async def _opened(self, frames: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        # The library closes this generator; without closing it here, the inner one waits for the garbage collector.
        async with aclosing(frames):
            yield RETRY
            async for data in frames:
                if self._still_allowed is not None and not await self._still_allowed():
                    log.info("a client's token stopped working; its stream ends")
                    return
                yield data


def heartbeat(submission_id: str = "") -> ServerSentEvent:
    """An event that shows that the connection lives; it has no id, so it moves no resume point."""
    identity = {"submission_id": submission_id} if submission_id else {}
    data = {"status": "heartbeat", **identity, "timestamp": time.time_ns() // 1_000_000}
    return ServerSentEvent(to_json(data).decode(), event="heartbeat", sep="\n")


def resume_point(last_event_id: str | None, after: str | None) -> int:
    """The sequence number after which a client wants events; the header wins, because it is newer than the query.

    Raises ProblemError if it is not a whole number from 0.
    """
    field, text = ("Last-Event-ID", last_event_id) if last_event_id else ("after", after)
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(2**62)):
        raise ProblemError(
            Problem(422, "The resume point is not an event id.", (FieldError(field, "send the id of the last event"),))
        )
    return min(int(text), 2**62)
