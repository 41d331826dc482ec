"""What machine time costs the operator."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_HOUR = 3_600_000_000
_NOTHING = timedelta(0)


@dataclass(frozen=True)
class Tariff:
    """How a provider bills a machine: at least `minimum`, then in whole `increment`s, at a price per hour.

    The price is the whole machine's, in micro-dollars.
    """

    price_micros_per_hour: int
    minimum: timedelta = _NOTHING
    increment: timedelta = MICROSECOND

    def billed(self, duration: timedelta) -> timedelta:
        """The time that is paid for when the machine is used for `duration`; nothing where it was never used."""
        if duration <= _NOTHING:
            return _NOTHING
        return max(self.minimum, -(-duration // self.increment) * self.increment)

    def cost_micros(self, duration: timedelta) -> int:
        """Micro-dollars for `duration`, rounded up to the next one."""
        return self.price_of(self.billed(duration))

    def price_of(self, billed: timedelta) -> int:
        """Micro-dollars for time that is billed as it is, rounded up to the next one."""
        return -(-(billed // MICROSECOND) * self.price_micros_per_hour // _MICROSECONDS_PER_HOUR)
