"""aiosqlite's connection, with a fix and fewer trips to its thread.

SQLAlchemy closes a connection whose task was cancelled; if that task is cancelled again, it also stops the connection.
Both ask the connection's thread to end. The thread ends at the first request, nobody answers the second, and the event
loop can no longer be closed (aiosqlite 0.22.1, SQLAlchemy 2.1.9). Here both wait for the same end. A loop may also be
closed before the thread has done what a cancelled task asked for; then the thread ends without a word.

A trip to the thread costs as much as a short statement. aiosqlite makes four for each statement: create the cursor,
execute, fetch the rows, close the cursor. Here `execute` also fetches the rows, and calls that wait for no lock and no
disk are made directly if the thread is idle. So are the statements of a short transaction, once it has the write lock.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable
from threading import Thread
from typing import Any, Self

import aiosqlite

# Its own thread calls it, too; here an error of it ends quietly. Its queue has no type.
from aiosqlite.core import _connection_worker_thread  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]

_ROWS_AT_A_TIME = 64
_TAKES_NO_LOCK = "BEGIN"
"""The statement that begins a transaction for reading; it takes no lock, the first statement after it does."""


class SqliteConnection(aiosqlite.Connection):
    """A connection that may be stopped more than once."""

    def __init__(self, database: str, **options: Any) -> None:  # noqa: ANN401 - sqlite3.connect's own
        super().__init__(self._open, _ROWS_AT_A_TIME)
        self._database, self._options = database, options
        self._opened: sqlite3.Connection | None = None
        # If nobody closes the connection, its thread must not keep the process from ending.
        self._thread = Thread(target=self._serve, daemon=True)
        self._stopping: asyncio.Future[Any] | None = None
        self._was_stopped = False
        # Only one thread changes each counter.
        self._visits_begun = 0
        self._visits_over = 0
        self.runs_here = False
        """True if statements run in the thread of the event loop: they are short, and the write lock is held."""

    @property
    def is_idle(self) -> bool:
        """True if the thread has nothing to do, so that SQLite may be used from outside of it."""
        return self._visits_begun == self._visits_over and not self._was_stopped

    def cursor(self) -> SqliteCursor:  # pyright: ignore[reportIncompatibleMethodOverride] - aiosqlite's can be awaited
        """Creates a cursor directly, because that does not call SQLite."""
        return SqliteCursor(self, self._conn.cursor())

    async def rollback(self) -> None:
        """Rolls back the transaction, if there is one; with the write-ahead log this waits for nothing."""
        if self.is_idle:
            self._conn.rollback()
        else:
            await super().rollback()

    def stop(self) -> asyncio.Future[Any] | None:
        """Ends the thread after its earlier requests; later calls give the same answer as the first."""
        if not self._was_stopped:
            self._was_stopped = True
            # aiosqlite leaves out the type of its futures.
            self._tx.put_nowait((None, self._close_opened))  # pyright: ignore[reportUnknownMemberType] - aiosqlite's queue has no type
            self._stopping = super().stop()  # pyright: ignore[reportUnknownMemberType] - nor has this
        return self._stopping

    def _serve(self) -> None:
        """What the thread does until the connection is stopped, or the event loop that waits for it is closed."""
        try:
            _connection_worker_thread(self._tx)  # pyright: ignore[reportUnknownMemberType] - aiosqlite's queue has no type
        except RuntimeError:
            # An answer could not be given: a closed loop says that with this error, and nobody waits any more. What the
            # statements raise is given as an answer.
            self._close_opened()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        self._opened = sqlite3.connect(self._database, **self._options)
        return self._opened

    def _close_opened(self) -> None:
        """Closes SQLite's connection even if a cancelled task never received it; closing twice is harmless."""
        if self._opened is not None:
            self._opened.close()

    async def visit(self, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401 - any call
        """Makes a call and gives its result; a call that has begun ends even if the task is cancelled."""
        if self.runs_here and self.is_idle:
            return call(*arguments)
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
    """A cursor whose statement fetches all rows in one trip; SQLAlchemy would read all of them anyway."""

    def __init__(self, connection: SqliteConnection, cursor: sqlite3.Cursor) -> None:
        super().__init__(connection, cursor)
        self._connection = connection
        self._rows: deque[Any] = deque()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def execute(self, sql: str, parameters: Iterable[Any] | None = None) -> Self:
        """Executes a statement and reads its rows."""
        if sql == _TAKES_NO_LOCK and self._connection.is_idle:
            self._cursor.execute(sql)
        else:
            self._rows = deque(await self._connection.visit(_rows_of, self._cursor, sql, parameters or ()))
        return self

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Self:
        """Executes a statement with each of the parameters."""
        await self._connection.visit(self._cursor.executemany, sql, parameters)
        return self

    async def fetchone(self) -> Any | None:  # noqa: ANN401 - a row
        """The next row; None if there is none."""
        return self._rows.popleft() if self._rows else None

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Up to `size` next rows."""
        return [self._rows.popleft() for _ in range(min(size or self._cursor.arraysize, len(self._rows)))]

    async def fetchall(self) -> list[Any]:
        """All remaining rows."""
        rows = list(self._rows)
        self._rows.clear()
        return rows

    async def close(self) -> None:
        """Closes the cursor; its rows were already read, so this waits for nothing if the thread is idle."""
        if self._connection.is_idle:
            self._cursor.close()
        else:
            await super().close()


def _rows_of(cursor: sqlite3.Cursor, sql: str, parameters: Any) -> list[Any]:  # noqa: ANN401 - what the statement takes
    cursor.execute(sql, parameters)
    return cursor.fetchall() if cursor.description else []
