"""Prices as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import note_before
from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.prices.price_change import PriceChange, WantedPrice, price_change
from services.billing.prices.price_period import PricePeriod
from services.billing.prices.settings_prices import SettingsPrices, settings_prices
from services.billing.store.tables import price_periods
from vocabulary.money import MICROSECOND, Tariff

_PERIODS = select(price_periods).order_by(
    price_periods.c.gpu_type, price_periods.c.spot, price_periods.c.start_time.desc(), price_periods.c.period_id
)


class PriceStore:
    """Stores prices with their periods; one change at a time."""

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def periods(self) -> Sequence[PricePeriod]:
        """All periods, by GPU type, then newest first."""
        async with self._database.reading() as connection:
            return await _read(connection)

    async def set(self, wanted: WantedPrice) -> PricePeriod:
        """Sets a price and gives its period; raises the errors of `price_change`."""
        async with self._database.transaction() as connection:
            await self._lock(connection)
            periods, now = await _read(connection), self._clock.now()
            note_before(*(one for one in periods if _may_end(one, wanted, now)))
            change = price_change(periods, wanted, now, self._new_id)
            await _write(connection, change)
        return change.period

    async def take_settings(self, rates: Mapping[str, Tariff]) -> SettingsPrices:
        """Sets the prices of the settings, by GPU type, if none set by hand stands against them."""
        async with self._database.transaction() as connection:
            await self._lock(connection)
            periods, now = await _read(connection), self._clock.now()
            decided = settings_prices(periods, rates, now)
            for wanted in decided.wanted:
                await _write(connection, price_change(periods, wanted, now, self._new_id))
        return decided

    async def _lock(self, connection: AsyncConnection) -> None:
        """Keeps other changes out until the transaction ends; on SQLite it has done so since it began."""
        if self._database.dialect_name == "postgresql":
            await connection.execute(text("LOCK TABLE price_periods IN SHARE ROW EXCLUSIVE MODE"))


async def _read(connection: AsyncConnection) -> Sequence[PricePeriod]:
    return [_period_from_row(row) for row in (await connection.execute(_PERIODS)).all()]


def _may_end(period: PricePeriod, wanted: WantedPrice, now: datetime) -> bool:
    return (period.gpu_type, period.spot) == (wanted.gpu_type, wanted.spot) and not period.is_over(now)


async def _write(connection: AsyncConnection, change: PriceChange) -> None:
    for period_id, end_time in change.ends.items():
        own = price_periods.c.period_id == period_id
        await connection.execute(update(price_periods).where(own).values(end_time=end_time))
    if change.added:
        await connection.execute(insert(price_periods), [_row(period) for period in change.added])


def _row(period: PricePeriod) -> dict[str, Any]:
    tariff = period.tariff
    return row_of(
        price_periods,
        period,
        tariff,
        minimum_billed_us=tariff.minimum // MICROSECOND,
        billing_increment_us=tariff.increment // MICROSECOND,
    )


def _period_from_row(row: Row[Any]) -> PricePeriod:
    minimum, increment = row.minimum_billed_us * MICROSECOND, row.billing_increment_us * MICROSECOND
    return record_of(PricePeriod, row, tariff=Tariff(row.price_micros_per_hour, minimum, increment))
