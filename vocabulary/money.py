"""Money: integer micro-dollars, and the one formula for the price of time (docs/decisions/0014-money.md).

Every product of time and price is exact and is rounded up once, to the next micro-dollar. So no time is free, a longer
time never costs less, and the parts of a time cost no less than the whole: at most one micro-dollar more for each cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

MICROS_PER_DOLLAR = 1_000_000
WHOLE_GPU = 8
"""A GPU is shared by eighths."""
MICROSECOND = timedelta(microseconds=1)
_MICROSECONDS_PER_HOUR = timedelta(hours=1) // MICROSECOND
_NOTHING = timedelta(0)
_CENTURY = timedelta(days=36_525)


def price_of(duration: timedelta, price_micros_per_hour: int, *, eighths: int = WHOLE_GPU, gpus: int = 1) -> int:
    """Micro-dollars for `duration`, rounded up; a negative duration costs nothing.

    The price is that of one whole; `eighths` of it are used, on each of `gpus`.
    """
    microseconds = max(_NOTHING, duration) // MICROSECOND
    return -(-microseconds * price_micros_per_hour * eighths * gpus // (_MICROSECONDS_PER_HOUR * WHOLE_GPU))


@dataclass(frozen=True)
class Tariff:
    """What time costs: at least `minimum` is billed, then whole `increment`s, at a price per hour in micro-dollars.

    A provider's tariff is the price of a whole machine. A user's is the price of one whole GPU, of which `eighths` are
    used, on each of `gpus`.
    """

    price_micros_per_hour: int
    minimum: timedelta = _NOTHING
    increment: timedelta = MICROSECOND
    eighths: int = WHOLE_GPU
    gpus: int = 1

    def billed(self, duration: timedelta) -> timedelta:
        """Billed time of a use of `duration`; zero if there was none."""
        if duration <= _NOTHING:
            return _NOTHING
        return max(self.minimum, -(-duration // self.increment) * self.increment)

    def cost_micros(self, duration: timedelta) -> int:
        """Micro-dollars for a use of `duration`."""
        return self.price_of(self.billed(duration))

    def longest_for(self, micros: int) -> timedelta:
        """The longest use that costs at most so many micro-dollars; zero if they do not pay for the minimum.

        It is a century at most, which is also what a price of zero gives.
        """
        rate = self.price_micros_per_hour * self.eighths * self.gpus
        if rate <= 0:
            return _CENTURY
        paid = min(micros * _MICROSECONDS_PER_HOUR * WHOLE_GPU // rate, _CENTURY // MICROSECOND) * MICROSECOND
        return paid // self.increment * self.increment if paid >= self.minimum else _NOTHING

    def price_of(self, billed: timedelta) -> int:
        """Micro-dollars for billed time."""
        return price_of(billed, self.price_micros_per_hour, eighths=self.eighths, gpus=self.gpus)


def micros_of(dollars: Decimal | float) -> int:
    """Converts dollars to micro-dollars, rounded to the nearest. A float counts by its decimal digits."""
    return int((Decimal(str(dollars)) * MICROS_PER_DOLLAR).to_integral_value())


def dollars_of(micros: int) -> float:
    """Converts micro-dollars to dollars, for interfaces that take numbers."""
    return micros / MICROS_PER_DOLLAR


def dollars_text(micros: int) -> str:
    """Formats an amount for people, such as `$1.99` or `-$0.000004`: at least cents, and no digit lost."""
    whole, fraction = divmod(abs(micros), MICROS_PER_DOLLAR)
    digits = f"{fraction:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}${whole:,}.{digits}"
