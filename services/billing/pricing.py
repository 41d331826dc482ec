"""What GPU time costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from services.billing.errors import PriceNotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_HOUR = 3_600_000_000


@dataclass(frozen=True)
class PriceList:
    """Micro-dollars per hour of one whole GPU, by GPU type."""

    micros_per_hour: Mapping[str, int]

    def price_of(self, gpu_type: str) -> int:
        """Micro-dollars per GPU hour; PriceNotFoundError lists the types that have a price."""
        try:
            return self.micros_per_hour[gpu_type]
        except KeyError:
            raise PriceNotFoundError(gpu_type, self.micros_per_hour) from None


@dataclass(frozen=True)
class Tariff:
    """How a provider bills a machine: at least `minimum`, then in whole `increment`s, at a price per hour."""

    price_micros_per_hour: int
    minimum: timedelta = timedelta(0)
    increment: timedelta = _MICROSECOND

    def cost_micros(self, duration: timedelta) -> int:
        """What `duration` costs; no time costs nothing."""
        if duration <= timedelta(0):
            return 0
        billed = max(self.minimum, -(-duration // self.increment) * self.increment)
        return cost_micros(billed, self.price_micros_per_hour)


def cost_micros(duration: timedelta, price_micros_per_hour: int) -> int:
    """What `duration` costs, exact in integers and rounded up to the next micro-dollar.

    Rounding up means that no time is free and that no two parts of an interval cost less than the whole; it adds at
    most one micro-dollar to each interval.
    """
    microseconds = duration // _MICROSECOND
    return -(-microseconds * price_micros_per_hour // _MICROSECONDS_PER_HOUR)
