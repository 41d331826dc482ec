"""How long to keep trying to reach a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime, timedelta

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0


class Patience:
    """Runs out when nothing came through for a whole window."""

    def __init__(self, window: timedelta) -> None:
        self._window = window
        self._failing_since: datetime | None = None
        self._pause_seconds = FIRST_PAUSE_SECONDS

    def contact(self) -> None:
        """Something came through: the window begins anew with the next failure."""
        self._failing_since = None
        self._pause_seconds = FIRST_PAUSE_SECONDS

    def pause(self, failed: datetime) -> float | None:
        """Seconds to wait before the next try, after one that failed; None: give up.

        How long the try took says nothing: a connection to a host that is gone takes long to fail.
        """
        self._failing_since = self._failing_since or failed
        if failed - self._failing_since >= self._window:
            return None
        pause, self._pause_seconds = self._pause_seconds, min(self._pause_seconds * 2, LONGEST_PAUSE_SECONDS)
        return pause
