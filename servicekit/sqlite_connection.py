"""aiosqlite's connection, mended: one that is stopped while it closes would leave a task that waits for ever.

SQLAlchemy closes a connection whose task was cancelled; where that task is cancelled once more, it also stops it. Each
of the two asks the connection's thread to end, the thread ends at the first, nobody answers the second, and the event
loop cannot be closed any more (aiosqlite 0.22.1, SQLAlchemy 2.1.9). Here both wait for the same end.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import aiosqlite

if TYPE_CHECKING:
    import asyncio

_ROWS_AT_A_TIME = 64


class SqliteConnection(aiosqlite.Connection):
    """May be stopped more than once."""

    def __init__(self, database: str, **options: Any) -> None:  # noqa: ANN401 - sqlite3.connect's own
        super().__init__(lambda: sqlite3.connect(database, **options), _ROWS_AT_A_TIME)
        # Where nobody closes it, it must not keep the process from ending.
        self._thread.daemon = True
        self._stopping: asyncio.Future[Any] | None = None
        self._was_stopped = False

    def stop(self) -> asyncio.Future[Any] | None:
        """End the thread after what it was asked before; later calls answer the same as the first."""
        if not self._was_stopped:
            self._was_stopped = True
            # aiosqlite leaves out what the future holds.
            self._stopping = super().stop()  # pyright: ignore[reportUnknownMemberType]
        return self._stopping
