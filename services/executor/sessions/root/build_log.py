"""What a build says, as a session's events tell it: many lines in one, and not without end."""

from __future__ import annotations

import time
from collections.abc import Callable

_SECONDS = 1.0
"""The least time between two events, unless there is much to tell."""
_MOST_CHARACTERS = 4096
MOST_EVENTS = 500
"""Events of one build: they are kept with the reservation."""
CUT = "(it says more than is kept)"


class BuildLog:
    """Collects lines, and gives several at once to `tell`."""

    def __init__(self, tell: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._now = now
        self._lines: list[str] = []
        self._told = 0
        self._next = 0.0

    def take(self, line: str) -> None:
        """Take a line, and tell it with those that wait if it is time."""
        if self._told >= MOST_EVENTS:
            return
        if sum(map(len, self._lines)) + len(line) > _MOST_CHARACTERS:
            self.flush()
        self._lines.append(line)
        if self._now() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Tell what waits."""
        if self._lines and self._told < MOST_EVENTS:
            self._told += 1
            self._next = self._now() + _SECONDS
            self._tell("\n".join(self._lines) if self._told < MOST_EVENTS else CUT)
        self._lines.clear()
