"""aiosqlite's connection, mended and with fewer visits to its thread.

SQLAlchemy closes a connection whose task was cancelled; where that task is cancelled once more, it also stops it. Each
of the two asks the connection's thread to end, the thread ends at the first, nobody answers the second, and the event
loop cannot be closed any more (aiosqlite 0.22.1, SQLAlchemy 2.1.9). Here both wait for the same end.

A visit to the thread costs as much as a short statement. aiosqlite makes four for each: a cursor, the statement, its
rows, the cursor's end. Here the statement brings its rows along, and what waits for no lock and no disk is done on the
spot, as long as the thread is idle.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from typing import TYPE_CHECKING, Any, Self

import aiosqlite

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

_ROWS_AT_A_TIME = 64
_TAKES_NO_LOCK = "BEGIN"
"""It only says that what follows belongs together; the first statement after it takes what it needs."""


class SqliteConnection(aiosqlite.Connection):
    """May be stopped more than once."""

    def __init__(self, database: str, **options: Any) -> None:  # noqa: ANN401 - sqlite3.connect's own
        super().__init__(self._open, _ROWS_AT_A_TIME)
        self._database, self._options = database, options
        self._opened: sqlite3.Connection | None = None
        # Where nobody closes it, it must not keep the process from ending.
        self._thread.daemon = True
        self._stopping: asyncio.Future[Any] | None = None
        self._was_stopped = False
        # Each counter has one thread that changes it.
        self._visits_begun = 0
        self._visits_over = 0

    @property
    def is_idle(self) -> bool:
        """Whether the thread has nothing to do, so that SQLite may be used from outside of it."""
        return self._visits_begun == self._visits_over and not self._was_stopped

    def cursor(self) -> SqliteCursor:  # pyright: ignore[reportIncompatibleMethodOverride] - aiosqlite's can be awaited
        """A cursor, made on the spot: SQLite is not asked for it."""
        return SqliteCursor(self, self._conn.cursor())

    async def rollback(self) -> None:
        """Roll the transaction back, where there is one; with the write-ahead log that waits for nothing."""
        if self.is_idle:
            self._conn.rollback()
        else:
            await super().rollback()

    def stop(self) -> asyncio.Future[Any] | None:
        """End the thread after what it was asked before; later calls answer the same as the first."""
        if not self._was_stopped:
            self._was_stopped = True
            # aiosqlite leaves out what its futures hold.
            self._tx.put_nowait((None, self._close_opened))  # pyright: ignore[reportUnknownMemberType] - aiosqlite's queue has no type
            self._stopping = super().stop()  # pyright: ignore[reportUnknownMemberType] - nor has this
        return self._stopping

    def _open(self) -> sqlite3.Connection:
        self._opened = sqlite3.connect(self._database, **self._options)
        return self._opened

    def _close_opened(self) -> None:
        """Also where a cancelled task never took what the thread opened for it; closing twice does no harm."""
        if self._opened is not None:
            self._opened.close()

    async def visit(self, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any call
        """Have the thread make a call, and wait for what it gives; a call that was begun ends, whoever is cancelled."""
        return await self._execute(call, *arguments)

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any call
        self._visits_begun += 1
        return await super()._execute(self._visit, fn, *args, **kwargs)  # pyright: ignore[reportUnknownMemberType] - any call

    def _visit(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any call
        try:
            return fn(*args, **kwargs)
        finally:
            self._visits_over += 1


class SqliteCursor(aiosqlite.Cursor):
    """Its statement brings all rows along in one visit; SQLAlchemy would read all of them anyway."""

    def __init__(self, connection: SqliteConnection, cursor: sqlite3.Cursor) -> None:
        super().__init__(connection, cursor)
        self._connection = connection
        self._rows: deque[Any] = deque()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Iterable[Any] | None = None) -> Self:
        """Execute a statement and read its rows."""
        if sql == _TAKES_NO_LOCK and self._connection.is_idle:
            self._cursor.execute(sql)
        else:
            self._rows = deque(await self._connection.visit(_rows_of, self._cursor, sql, parameters or ()))
        return self

    async def fetchone(self) -> Any | None:  # noqa: ANN401 - a row
        """The next row."""
        return self._rows.popleft() if self._rows else None

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """The next rows."""
        return [self._rows.popleft() for _ in range(min(size or self._cursor.arraysize, len(self._rows)))]

    async def fetchall(self) -> list[Any]:
        """All rows that are left."""
        rows = list(self._rows)
        self._rows.clear()
        return rows

    async def close(self) -> None:
        """Forget the statement; its rows were read, so nothing is waited for."""
        if self._connection.is_idle:
            self._cursor.close()
        else:
            await super().close()


def _rows_of(cursor: sqlite3.Cursor, sql: str, parameters: Any) -> list[Any]:  # noqa: ANN401 - what the statement takes
    cursor.execute(sql, parameters)
    return cursor.fetchall() if cursor.description else []
