"""The order that streams, events and a waiting host imply, kept by events alone.

A host that waits between two launches would add to a time that is meant for the device's work only. So each such wait
becomes an event that the other streams wait for before their next operation. The call's other streams begin after the
default stream, and it continues after them, so that its events enclose all of the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from services.executor.core.launching.program import DEFAULT_STREAM, Mark, Operation, Step, Wait, Work

ALL_STREAMS = -1


@dataclass(frozen=True)
class Noted(Step):
    """An event of the submission is noted on a stream."""

    event: int


@dataclass(frozen=True)
class Waited(Step):
    """A stream waits for an event of the submission."""

    event: int


@dataclass(frozen=True)
class Synchronised(Step):
    """The host waits for a stream, or for ALL_STREAMS."""


Item: TypeAlias = Work | Noted | Waited | Synchronised


@dataclass(frozen=True)
class Ordered:
    """Operations with all waits between streams, and the number of events that they use."""

    operations: tuple[Operation, ...]
    events: int


def in_order(items: Sequence[Item]) -> Ordered:
    """Returns the work of `items` in their order, with waits if there are several streams."""
    others = dict.fromkeys(item.stream for item in items if item.stream > DEFAULT_STREAM)
    if not others:
        return Ordered(tuple(item for item in items if isinstance(item, Work)), 0)
    return _Streams(list(others)).ordered(items)


class _Streams:
    def __init__(self, others: Sequence[int]) -> None:
        self._others = others
        self._operations: list[Operation] = []
        self._events = 0
        self._waiting: dict[int, list[int]] = {stream: [] for stream in (DEFAULT_STREAM, *others)}
        self._busy: dict[int, None] = {}
        self._latest: dict[int, int] = {}

    def ordered(self, items: Sequence[Item]) -> Ordered:
        self._let_wait(DEFAULT_STREAM)
        for item in items:
            self._add(item)
        for stream in self._others:
            self._operations.append(Wait(DEFAULT_STREAM, self._mark(stream)))
        return Ordered(tuple(self._operations), self._events)

    def _add(self, item: Item) -> None:
        match item:
            case Noted():
                self._latest[item.event] = self._mark(item.stream)
            case Waited():
                # If no operation of this call noted the event, it is long over.
                if item.event in self._latest:
                    self._waiting[item.stream].append(self._latest[item.event])
                    # A host that waits for this stream waits for the event, too.
                    self._busy[item.stream] = None
            case Synchronised():
                for stream in [one for one in self._busy if item.stream in {one, ALL_STREAMS}]:
                    self._let_wait(stream)
                    del self._busy[stream]
            case _:
                self._catch_up(item.stream)
                self._busy[item.stream] = None
                self._operations.append(item)

    def _let_wait(self, stream: int) -> None:
        """Makes all other streams wait for the work that this one has been given so far."""
        event = self._mark(stream)
        for other, waiting in self._waiting.items():
            if other != stream:
                waiting.append(event)

    def _mark(self, stream: int) -> int:
        self._catch_up(stream)
        self._operations.append(Mark(stream, self._events))
        self._events += 1
        return self._events - 1

    def _catch_up(self, stream: int) -> None:
        self._operations += [Wait(stream, event) for event in dict.fromkeys(self._waiting[stream])]
        self._waiting[stream].clear()
