"""The holder of a database's leader lease, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from servicekit.db.database import Database
from servicekit.db.leader_lease import DatabaseTakenError, LeaderLease, leader_lease

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

AT_ONCE = timedelta(0)
LONG = timedelta(seconds=60)
END_HOLDERS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE locktype = 'advisory' AND granted AND datname = current_database()"
)


@asynccontextmanager
async def serving(url: str, timeout: timedelta = AT_ONCE, service: str = "vmpool") -> AsyncGenerator[LeaderLease]:
    database = Database(url)
    try:
        async with leader_lease(database, service, timeout) as held:
            yield held
    finally:
        await database.close()


async def test_a_second_process_is_refused_and_reads_what_to_do(database_url: str) -> None:
    async with serving(database_url) as held:
        with pytest.raises(DatabaseTakenError, match="another vmpool serves this database already: stop that one"):
            async with serving(database_url):
                pass
        await held.check()
    async with serving(database_url):
        pass


async def test_a_second_process_waits_for_the_first_to_end(database_url: str) -> None:
    async with serving(database_url):
        second = serving(database_url, LONG)
        waiting = asyncio.create_task(second.__aenter__())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
    await second.__aexit__(None, None, None)


async def test_a_database_in_memory_is_nobody_elses() -> None:
    async with serving("sqlite+aiosqlite://") as held, serving("sqlite+aiosqlite://"):
        await held.check()


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_lease_that_was_lost_with_its_connection_is_taken_again(database_url: str) -> None:
    async with serving(database_url) as held:
        await cut_holders_off(database_url)
        await held.check()
        with pytest.raises(DatabaseTakenError):
            async with serving(database_url):
                pass


@pytest.mark.postgres
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_process_that_lost_its_lease_to_another_gets_an_error(database_url: str) -> None:
    async with serving(database_url) as held:
        await cut_holders_off(database_url)
        async with serving(database_url, LONG):
            with pytest.raises(DatabaseTakenError):
                await held.check()


async def cut_holders_off(url: str) -> None:
    database = Database(url)
    async with database.transaction() as connection:
        assert (await connection.execute(END_HOLDERS)).scalars().all() == [True]
    await database.close()
