"""Prices for tests: wanted ones, and the periods after a series of changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from services.billing.prices.price_change import PriceChange, WantedPrice, price_change
from services.billing.prices.price_period import PricePeriod, PriceSource
from vocabulary.money import Tariff

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    """The instant so many days after NOW."""
    return NOW + timedelta(days=number)


def a_price(dollars: float = 1.99, gpu_type: str = "MI300X", **fields: Any) -> WantedPrice:
    tariff = Tariff(round(dollars * 1_000_000))
    return WantedPrice(gpu_type, tariff, **({"source": PriceSource.ADMINISTRATOR} | fields))


def counted_ids(first: int = 1) -> Callable[[str], str]:
    numbers = count(first)
    return lambda prefix: f"{prefix}_{next(numbers)}"


def after(periods: Sequence[PricePeriod], change: PriceChange) -> list[PricePeriod]:
    """The periods with a change made."""
    ended = [replace(one, end_time=change.ends.get(one.period_id, one.end_time)) for one in periods]
    return [*ended, *change.added]


def periods_of(*wanted: tuple[float, WantedPrice]) -> list[PricePeriod]:
    """The periods after each price is set, on the day before it."""
    periods: list[PricePeriod] = []
    new_id = counted_ids()
    for number, one in wanted:
        periods = after(periods, price_change(periods, one, day(number), new_id))
    return periods


def spans(periods: Sequence[PricePeriod]) -> list[tuple[float, float | None, int]]:
    """(first day, day of the end, micro-dollars) of the periods that were not withdrawn, in order."""
    live = sorted((one for one in periods if not one.is_withdrawn), key=lambda one: one.start_time)
    return [
        (
            (one.start_time - NOW) / timedelta(days=1),
            None if one.end_time is None else (one.end_time - NOW) / timedelta(days=1),
            one.tariff.price_micros_per_hour,
        )
        for one in live
    ]
