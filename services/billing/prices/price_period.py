"""Prices with their periods. The price of an instant is that of the period that contains it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from services.billing.errors import InvalidFieldError
from vocabulary.limits import LONGEST_BILLED
from vocabulary.money import Tariff, dollars_text

CURRENCY = "USD"
MAX_PRICE_MICROS_PER_HOUR = 10**12
"""One million dollars for an hour of one GPU: far above any real price, and small enough for every sum to fit in 64
bits, even for the longest time on the most GPUs."""


class PriceSource(StrEnum):
    """Who set a price."""

    SETTINGS = "settings"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True)
class PricePeriod:
    """The price of one whole GPU of a type, from `start_time` until before `end_time`.

    Without an end it counts until another price is set. A period that was withdrawn before it began ends at its start.
    """

    period_id: str
    gpu_type: str
    spot: bool
    tariff: Tariff
    source: PriceSource
    start_time: datetime
    end_time: datetime | None
    create_time: datetime

    @property
    def is_withdrawn(self) -> bool:
        """True if the period contains no instant."""
        return self.end_time is not None and self.end_time <= self.start_time

    def is_over(self, now: datetime) -> bool:
        """True if the period contains no instant from `now` on."""
        return self.end_time is not None and self.end_time <= max(now, self.start_time)

    def contains(self, instant: datetime) -> bool:
        """True if this is the price of the instant."""
        return self.start_time <= instant and (self.end_time is None or instant < self.end_time)


def check_tariff(tariff: Tariff) -> Tariff:
    """Gives the tariff back; raises InvalidFieldError with the name of a wrong field."""
    price = tariff.price_micros_per_hour
    if price < 0:
        raise InvalidFieldError("price_micros_per_hour", f"must not be negative; it is {dollars_text(price)}")
    if price > MAX_PRICE_MICROS_PER_HOUR:
        raise InvalidFieldError(
            "price_micros_per_hour",
            f"must be at most {dollars_text(MAX_PRICE_MICROS_PER_HOUR)}; it is {dollars_text(price)}",
        )
    if not timedelta(0) <= tariff.minimum <= LONGEST_BILLED:
        raise InvalidFieldError("minimum_billed", f"must be from 0 to {LONGEST_BILLED}")
    if not timedelta(0) < tariff.increment <= LONGEST_BILLED:
        raise InvalidFieldError("billing_increment", f"must be more than 0 and at most {LONGEST_BILLED}")
    return tariff


def check_currency(currency: str) -> None:
    """Raises InvalidFieldError if it is not the one that accounts are kept in."""
    if currency and currency != CURRENCY:
        raise InvalidFieldError("currency", f"must be {CURRENCY}; it is {currency[:10]!r}")
