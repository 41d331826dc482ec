"""The leader lease: one process at a time serves a database.

On PostgreSQL it is an advisory lock, on SQLite a lock on a file beside the database. The lock belongs to a connection
or an open file, so it ends with its process. If the connection breaks and the process goes on, another process can
take the lock; `keep` notices that.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from servicekit.logging import get_logger

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from datetime import timedelta

    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

    from servicekit.db.database import Database

log = get_logger(__name__)

POLL_SECONDS = 0.2
KEEP_SECONDS = 5.0
"""Interval between two checks of a lock that is held."""

_TRY_LOCK = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
_STILL_THERE = text("SELECT 1")


class DatabaseTakenError(Exception):
    """Another process serves the database."""

    def __init__(self, service: str) -> None:
        super().__init__(
            f"another {service} serves this database already: stop that one, or give this one a database or data "
            "folder of its own"
        )


class _Lock(Protocol):
    async def take(self) -> bool: ...

    async def is_held(self) -> bool: ...

    async def end(self) -> None: ...


class LeaderLease:
    """A service's right to be the only one that serves its database."""

    def __init__(self, lock: _Lock, service: str) -> None:
        self._lock = lock
        self._service = service

    async def take(self, takeover_timeout: timedelta) -> None:
        """Takes the lease; raises DatabaseTakenError if another process still has it after `takeover_timeout`."""
        if await self._lock.take():
            return
        log.warning("waiting for another process that serves this database to end")
        try:
            async with asyncio.timeout(takeover_timeout.total_seconds()):
                while not await self._lock.take():  # noqa: ASYNC110 - nothing signals the end of the other process
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise DatabaseTakenError(self._service) from None

    async def keep(self) -> None:
        """Renews the lease for ever; raises DatabaseTakenError once another process has it."""
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            await self.check()

    async def check(self) -> None:
        """Takes the lease again if the connection broke; raises DatabaseTakenError if another process has it."""
        try:
            if await self._lock.is_held() or await self._lock.take():
                return
        except (DBAPIError, OSError) as error:
            # The database cannot be reached, so nobody else can take the lease either.
            log.warning("the leader lease is lost until the database answers", extra={"error": str(error)})
            return
        raise DatabaseTakenError(self._service)


@asynccontextmanager
async def leader_lease(database: Database, service: str, takeover_timeout: timedelta) -> AsyncGenerator[LeaderLease]:
    """Holds the leader lease of the database.

    Raises DatabaseTakenError if another process still has it after `takeover_timeout`. An SQLite database in memory
    needs no lock: no other process can open it.
    """
    lock = _lock_of(database, service)
    held = LeaderLease(lock, service)
    await held.take(takeover_timeout)
    try:
        yield held
    finally:
        await lock.end()


def _lock_of(database: Database, service: str) -> _Lock:
    if database.dialect_name == "postgresql":
        return _AdvisoryLock(database.engine, f"wavepool {service}")
    file = database.engine.url.database
    return _FileLock(None if file in {None, "", ":memory:"} else Path(f"{file}.lock"))


class _FileLock:
    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: int | None = None

    async def take(self) -> bool:
        if self._path is None:
            return True
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    async def is_held(self) -> bool:
        return self._path is None or self._file is not None

    async def end(self) -> None:
        if self._file is not None:
            os.close(self._file)


class _AdvisoryLock:
    def __init__(self, engine: AsyncEngine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._connection: AsyncConnection | None = None

    async def take(self) -> bool:
        connection = await self._engine.connect()
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        if not await connection.scalar(_TRY_LOCK, {"name": self._name}):
            await connection.close()
            return False
        self._connection = connection
        return True

    async def is_held(self) -> bool:
        if self._connection is None:
            return False
        try:
            await self._connection.execute(_STILL_THERE)
        except DBAPIError:
            await self.end()
            return False
        return True

    async def end(self) -> None:
        """Closes the connection instead of returning it to the pool, because the lock belongs to the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.invalidate()
            await connection.close()
