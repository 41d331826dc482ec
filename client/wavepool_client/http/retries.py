"""Waits between tries of a request or a stream."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from wavepool_client.errors import UnreachableError

FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 5.0
GIVE_UP_SECONDS = 60.0
"""Seconds without a single frame before the gateway counts as unreachable."""


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
