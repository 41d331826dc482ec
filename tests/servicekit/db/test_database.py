from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, update
from sqlalchemy.dialects import sqlite

from servicekit.db.database import Database, Instant

metadata = MetaData()
counters = Table(
    "counters", metadata, Column("id", Integer, primary_key=True), Column("n", Integer), Column("t", Instant())
)
WRITERS, ROUNDS = 4, 10


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    async with database.transaction() as connection:
        await connection.run_sync(metadata.create_all)
        await connection.execute(insert(counters).values(id=1, n=0))
    yield database
    await database.close()


async def value(database: Database) -> int:
    async with database.reading() as connection:
        return (await connection.execute(select(counters.c.n))).scalar_one()


async def test_an_exception_rolls_the_transaction_back(database: Database) -> None:
    async def fail() -> None:
        async with database.transaction() as connection:
            await connection.execute(update(counters).values(n=5))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        await fail()
    assert await value(database) == 0


async def test_writers_of_several_processes_lose_no_update(database: Database, database_url: str) -> None:
    async def count() -> None:
        other = Database(database_url)
        for _ in range(ROUNDS):
            async with other.transaction() as connection:
                statement = select(counters.c.n)
                n = (await connection.execute(statement.with_for_update())).scalar_one()
                await connection.execute(update(counters).values(n=n + 1))
        await other.close()

    await asyncio.gather(*(count() for _ in range(WRITERS)))
    assert await value(database) == WRITERS * ROUNDS


async def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute(update(counters).values(n=7))
        assert await asyncio.wait_for(value(database), 60) == 0


async def test_an_instant_comes_back_as_it_went_in(database: Database) -> None:
    instant = datetime(2026, 2, 3, 4, 5, 6, 789_012, tzinfo=timezone(timedelta(hours=5)))
    async with database.transaction() as connection:
        await connection.execute(update(counters).values(t=instant))
        assert (await connection.execute(select(counters.c.t))).scalar_one() == instant


@given(st.datetimes(timezones=st.just(UTC)))
def test_no_instant_loses_a_microsecond(instant: datetime) -> None:
    dialect, column = sqlite.dialect(), Instant()
    assert column.process_result_value(column.process_bind_param(instant, dialect), dialect) == instant


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(TypeError):
        Instant().process_bind_param(datetime(2026, 1, 1), sqlite.dialect())  # noqa: DTZ001 - the point
