"""The events of something that goes on until its last event, and their followers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Generic, Protocol, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from servicekit.clock import Clock
from servicekit.feed import Feed


class NumberedEvent(Protocol):
    """A message with a sequence number, from 1, and a time; the log sets both."""

    seq: int

    @property
    def time(self) -> Timestamp:
        """Time at which the event was recorded."""
        ...


E = TypeVar("E", bound=NumberedEvent)


class EventLog(Generic[E]):
    """Keeps events in memory. It begins when made, and ends with the first event for which `is_last` is true."""

    def __init__(self, clock: Clock, is_last: Callable[[E], bool]) -> None:
        self._clock = clock
        self._is_last = is_last
        self._events: list[E] = []
        self._news = Feed()

    @property
    def last(self) -> E | None:
        """The last event; None while more may follow."""
        return self._events[-1] if self._events and self._is_last(self._events[-1]) else None

    @property
    def last_seq(self) -> int:
        """Number of the last event so far; 0 before the first."""
        return len(self._events)

    @property
    def is_finished(self) -> bool:
        """True once the last event is recorded."""
        return self.last is not None

    @property
    def finish_time(self) -> datetime | None:
        """Time of the last event; None while more may follow."""
        return self.last.time.ToDatetime(tzinfo=UTC) if self.last is not None else None

    def record(self, event: E) -> None:
        """Add an event with its sequence number and time; does nothing after the last event."""
        if self.is_finished:
            return
        event.seq = len(self._events) + 1
        event.time.FromDatetime(self._clock.now())
        self._events.append(event)
        self._news.notify()

    async def follow(self, after_seq: int) -> AsyncIterator[E]:
        """Yield the events after `after_seq`, then new ones until the last."""
        position = after_seq
        with self._news.follow() as news:
            while True:
                news.clear()
                for event in self._events[position:]:
                    position = event.seq
                    yield event
                if self.is_finished and position >= len(self._events):
                    return
                await news.wait()

    async def wait(self) -> None:
        """Wait for the last event."""
        async for _ in self.follow(len(self._events)):
            pass
