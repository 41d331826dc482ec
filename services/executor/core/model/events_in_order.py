"""Events of a run in their order, although the work behind them overlaps."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

from services.executor.core.model.events import Event


class EventsInOrder:
    """Passes events on to `emit`; while an earlier one is not complete, keeps those that come after it."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._kept: list[Event] | None = None

    def __call__(self, event: Event) -> None:
        """Passes the event on, or keeps it."""
        if self._kept is None:
            self._emit(event)
        else:
            self._kept.append(event)

    @contextmanager
    def kept(self) -> Generator[None]:
        """Keeps the events of its block until `release`; if that never comes, as in a cancelled run, they are lost."""
        self._kept = []
        try:
            yield
        finally:
            self._kept = None

    def release(self, first: Event) -> None:
        """Passes on `first`, which is complete now, and then what was kept."""
        kept, self._kept = self._kept or [], None
        for event in (first, *kept):
            self._emit(event)
