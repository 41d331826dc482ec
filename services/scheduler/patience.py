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

    def pause(self, began: datetime, failed: datetime, *, progress: bool) -> float | None:
        """Seconds to wait before the next try, after a try from `began` to `failed`; None: give up.

        A try that made progress, or held for a whole window, was contact: the window begins anew.
        """
        if progress or failed - began >= self._window or self._failing_since is None:
            self._failing_since = failed
            self._pause_seconds = FIRST_PAUSE_SECONDS
        if failed - self._failing_since >= self._window:
            return None
        pause, self._pause_seconds = self._pause_seconds, min(self._pause_seconds * 2, LONGEST_PAUSE_SECONDS)
        return pause
