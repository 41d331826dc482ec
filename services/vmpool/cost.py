"""What machine time costs the operator."""

from __future__ import annotations

from datetime import timedelta

_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_HOUR = 3_600_000_000


def cost_micros(duration: timedelta, price_micros_per_hour: int) -> int:
    """Micro-dollars for `duration`, rounded up to the next one."""
    return -(-(duration // _MICROSECOND) * price_micros_per_hour // _MICROSECONDS_PER_HOUR)
