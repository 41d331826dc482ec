"""Waiting longer after each failure in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import timedelta

_MOST_DOUBLINGS = 20
"""Beyond every longest pause that is in use: a power of two without a limit would end in an overflow."""


@dataclass(frozen=True)
class Backoff:
    """The pause after the first failure is doubled with each further one, up to the longest."""

    first: timedelta
    longest: timedelta

    def pause(self, failures: int) -> timedelta:
        """How long to wait after so many failures in a row, from 1."""
        return min(self.first * 2 ** min(failures - 1, _MOST_DOUBLINGS), self.longest)
