"""How long to keep trying to reach a machine."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from vocabulary.backoff import Backoff

if TYPE_CHECKING:
    from datetime import datetime

BACKOFF = Backoff(first=timedelta(seconds=0.05), longest=timedelta(seconds=1))


class Patience:
    """Runs out when nothing came through for a whole window."""

    def __init__(self, window: timedelta) -> None:
        self._window = window
        self._failing_since: datetime | None = None
        self._failures = 0

    def contact(self) -> None:
        """Something came through: the window begins anew with the next failure."""
        self._failing_since = None
        self._failures = 0

    def pause(self, failed: datetime) -> float | None:
        """Seconds to wait before the next try, after one that failed; None: give up.

        How long the try took says nothing: a connection to a host that is gone takes long to fail.
        """
        self._failing_since = self._failing_since or failed
        if failed - self._failing_since >= self._window:
            return None
        self._failures += 1
        return BACKOFF.pause(self._failures).total_seconds()
