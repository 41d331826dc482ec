"""How long a machine takes to become ready, judged by those before it."""

from __future__ import annotations

from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HISTORY = 20
"""How many of the latest starts count: enough for a steady median, few enough to follow a provider that changes."""


def start_estimate(start_times: Sequence[timedelta]) -> timedelta | None:
    """The median; None while there is no history."""
    if not start_times:
        return None
    return timedelta(seconds=median(time.total_seconds() for time in start_times))
