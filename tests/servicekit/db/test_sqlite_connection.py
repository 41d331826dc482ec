from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from servicekit.db.sqlite_connection import SqliteConnection

Visits = list[str]


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[SqliteConnection]:
    connection = await SqliteConnection(str(tmp_path / "db"), check_same_thread=False, isolation_level=None)
    async with connection.cursor() as cursor:
        await cursor.execute("CREATE TABLE numbers (n INTEGER)")
        await cursor.executemany("INSERT INTO numbers VALUES (?)", [(n,) for n in range(100)])
    yield connection
    await connection.close()


@pytest.fixture
def visits(connection: SqliteConnection, monkeypatch: pytest.MonkeyPatch) -> Visits:
    """The requests made to the connection's thread."""
    seen: Visits = []
    visit = connection._visit

    def noted(fn: Callable[..., object], *args: object) -> object:
        seen.append(fn.__name__)
        return visit(fn, *args)

    monkeypatch.setattr(connection, "_visit", noted)
    return seen


async def test_a_connection_that_is_stopped_while_it_closes_is_closed_all_the_same(tmp_path: Path) -> None:
    connection = await SqliteConnection(str(tmp_path / "db"))
    busy, over = threading.Event(), threading.Event()

    def hold() -> None:
        busy.set()
        over.wait(10)

    connection._tx.put_nowait((None, hold))
    assert await asyncio.to_thread(busy.wait, 10)
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    stopped = connection.stop()
    over.set()

    async with asyncio.timeout(60):
        await closing
        assert stopped is not None
        await stopped
    assert connection.stop() is stopped


async def test_what_was_opened_for_a_cancelled_task_is_closed(tmp_path: Path) -> None:
    opening, over, closed = threading.Event(), threading.Event(), threading.Event()

    class Slow(sqlite3.Connection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            opening.set()
            over.wait(10)
            super().__init__(*arguments, **options)

        def close(self) -> None:
            super().close()
            closed.set()

    async def connect() -> None:
        await SqliteConnection(str(tmp_path / "db"), factory=Slow)

    connecting = asyncio.create_task(connect())
    assert await asyncio.to_thread(opening.wait, 10)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    over.set()

    assert await asyncio.to_thread(closed.wait, 10)


def test_a_loop_that_is_closed_before_the_thread_has_answered_ends_the_thread_without_a_word(tmp_path: Path) -> None:
    over = threading.Event()

    async def leave_early() -> SqliteConnection:
        connection = await SqliteConnection(str(tmp_path / "db"), check_same_thread=False)
        busy = threading.Event()
        asking = asyncio.create_task(connection.visit(lambda: (busy.set(), over.wait(60))))
        assert await asyncio.to_thread(busy.wait, 60)
        asking.cancel()
        return connection

    left = asyncio.run(leave_early())
    opened = left._opened
    over.set()
    left._thread.join(60)
    assert not left._thread.is_alive()
    assert opened is not None
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened.execute("SELECT 1")


async def test_a_statement_and_all_its_rows_are_one_visit_to_the_thread(
    connection: SqliteConnection, visits: Visits
) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("SELECT n FROM numbers ORDER BY n")
        first, some, rest = await cursor.fetchone(), await cursor.fetchmany(3), await cursor.fetchall()
        assert await cursor.fetchone() is None

    assert [n for (n,) in (first, *some, *rest)] == list(range(100))
    assert len(visits) == 1


async def test_a_transaction_of_nothing_but_reading_is_one_visit(connection: SqliteConnection, visits: Visits) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("BEGIN")
        await cursor.execute("SELECT count(*) FROM numbers")
    await connection.rollback()

    assert len(visits) == 1, visits


async def test_a_rollback_undoes_what_was_written(connection: SqliteConnection) -> None:
    async with connection.cursor() as cursor:
        await cursor.execute("BEGIN IMMEDIATE")
        await cursor.execute("DELETE FROM numbers")
        await connection.rollback()
        await cursor.execute("SELECT count(*) FROM numbers")
        assert await cursor.fetchone() == (100,)


async def test_while_the_thread_is_busy_nothing_is_done_outside_of_it(connection: SqliteConnection) -> None:
    busy, over, order = threading.Event(), threading.Event(), list[str]()

    def hold() -> None:
        busy.set()
        over.wait(10)
        order.append("thread")

    cursor = connection.cursor()
    holding = asyncio.create_task(connection.visit(hold))
    assert await asyncio.to_thread(busy.wait, 10)
    beginning = asyncio.create_task(cursor.execute("BEGIN"))
    beginning.add_done_callback(lambda _: order.append("begin"))
    await asyncio.sleep(0)
    assert not connection.is_idle
    over.set()
    async with asyncio.timeout(60):
        await asyncio.gather(holding, beginning, cursor.close(), connection.rollback())

    assert order == ["thread", "begin"]
    assert connection.is_idle


async def test_an_error_of_a_statement_leaves_the_thread_idle(connection: SqliteConnection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        await connection.cursor().execute("SELECT * FROM nowhere")

    assert connection.is_idle
