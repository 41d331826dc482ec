"""What a job costs, in micro-dollars. Time is charged to the microsecond and the product is rounded down.

Infrastructure faults, and jobs that are cancelled before they run, cost nothing: their callers charge 0 outright.
"""

from __future__ import annotations

from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)
MICROSECONDS_PER_HOUR = timedelta(hours=1) // MICROSECOND


def price_of(billable: timedelta, price_micros_per_hour: int) -> int:
    """The price of machine time, rounded down to whole micros; negative time costs nothing."""
    return max(0, billable // MICROSECOND) * price_micros_per_hour // MICROSECONDS_PER_HOUR


def worst_case(longest_run: timedelta, price_micros_per_hour: int) -> int:
    """What a job is put on hold for: its longest run, rounded up to whole micros so that it covers every price."""
    return -(-(longest_run // MICROSECOND) * price_micros_per_hour // MICROSECONDS_PER_HOUR)


def charge_of(billable: timedelta, price_micros_per_hour: int, hold_micros: int) -> int:
    """What is due for a run: never more than was put on hold for it."""
    return min(price_of(billable, price_micros_per_hour), hold_micros)
