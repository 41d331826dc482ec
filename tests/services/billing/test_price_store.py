from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import DBAPIError

from servicekit.clock import ManualClock
from servicekit.db.database import Database
from services.billing.errors import PastPriceError, PricePeriodsOverlapError
from services.billing.prices.price_period import PricePeriod, PriceSource
from services.billing.store.price_store import PriceStore
from services.billing.store.tables import price_periods
from tests.services.billing.price_periods import NOW, a_price, counted_ids, day, spans
from vocabulary.money import Tariff

RATES = {"MI300X": Tariff(1_990_000), "MI210": Tariff(1_100_000)}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def store(db: Database, clock: ManualClock) -> PriceStore:
    return PriceStore(db, clock, counted_ids())


async def mi300x(store: PriceStore) -> list[tuple[float, float | None, int]]:
    return spans([period for period in await store.periods() if period.gpu_type == "MI300X"])


async def test_settings_fill_an_empty_list_once(store: PriceStore, clock: ManualClock) -> None:
    assert len((await store.take_settings(RATES)).wanted) == 2
    clock.advance(timedelta(days=1))
    assert not (await store.take_settings(RATES)).wanted
    periods = await store.periods()
    assert [(period.gpu_type, period.tariff, period.source, period.start_time) for period in periods] == [
        ("MI210", RATES["MI210"], PriceSource.SETTINGS, NOW),
        ("MI300X", RATES["MI300X"], PriceSource.SETTINGS, NOW),
    ]


async def test_a_changed_setting_counts_from_the_start_of_billing_on(store: PriceStore, clock: ManualClock) -> None:
    await store.take_settings(RATES)
    clock.advance(timedelta(days=1))
    await store.take_settings(RATES | {"MI300X": Tariff(2_500_000)})
    assert await mi300x(store) == [(0, 1, 1_990_000), (1, None, 2_500_000)]


async def test_a_price_is_set_with_all_that_belongs_to_it(store: PriceStore, clock: ManualClock) -> None:
    await store.take_settings(RATES)
    clock.advance(timedelta(days=1))
    wanted = a_price(0.5, start_time=day(3), end_time=day(5), spot=True)
    tariff = Tariff(500_000, timedelta(seconds=60), timedelta(seconds=1))
    period = await store.set(replace(wanted, tariff=tariff))
    assert period in await store.periods()
    assert (period.tariff, period.spot, period.create_time) == (tariff, True, day(1))


async def test_a_refused_price_leaves_the_books_unchanged(store: PriceStore, clock: ManualClock) -> None:
    await store.take_settings(RATES)
    clock.advance(timedelta(days=1))
    await store.set(a_price(2.5, start_time=day(9)))
    before = await store.periods()
    with pytest.raises(PastPriceError):
        await store.set(a_price(3, start_time=day(0.5)))
    with pytest.raises(PricePeriodsOverlapError):
        await store.set(a_price(3, start_time=day(4)))
    assert await store.periods() == before


async def test_planned_prices_are_replaced(store: PriceStore, clock: ManualClock) -> None:
    await store.take_settings(RATES)
    clock.advance(timedelta(days=1))
    await store.set(a_price(2.5, start_time=day(9)))
    await store.set(a_price(3, start_time=day(9), replaces_planned=True))
    assert await mi300x(store) == [(0, 9, 1_990_000), (9, None, 3_000_000)]


async def test_prices_set_at_the_same_time_leave_one_for_every_instant(store: PriceStore, clock: ManualClock) -> None:
    await store.take_settings(RATES)
    clock.advance(timedelta(days=1))
    wanted = [a_price(2 + number, start_time=day(2 + number)) for number in range(8)]
    done = await asyncio.gather(*(store.set(one) for one in wanted), return_exceptions=True)
    refused = [one for one in done if not isinstance(one, PricePeriod)]
    assert all(isinstance(one, PricePeriodsOverlapError) for one in refused)
    found = await mi300x(store)
    assert len(found) == 1 + len(done) - len(refused)
    assert [end for _, end, _ in found[:-1]] == [start for start, _, _ in found[1:]]


async def test_the_database_refuses_an_overlap_and_a_change_of_the_past(store: PriceStore, db: Database) -> None:
    await store.take_settings(RATES)
    own = price_periods.c.gpu_type == "MI300X"
    async with db.reading() as connection:
        row = dict((await connection.execute(select(price_periods).where(own))).mappings().one())
    statements = [
        insert(price_periods).values(row | {"period_id": "other", "start_time": day(3)}),
        update(price_periods).where(own).values(price_micros_per_hour=1),
        update(price_periods).where(own).values(start_time=day(1)),
        delete(price_periods).where(own),
    ]
    for statement in statements:
        with pytest.raises(DBAPIError, match="price_periods"):
            async with db.transaction() as connection:
                await connection.execute(statement)
    async with db.transaction() as connection:
        await connection.execute(update(price_periods).where(own).values(end_time=day(2)))
    with pytest.raises(DBAPIError, match="can only be shortened"):
        async with db.transaction() as connection:
            await connection.execute(update(price_periods).where(own).values(end_time=day(3)))
