"""Commits the writes of many callers together, so that they share one wait for the disk.

Writes that come while a transaction is under way go into the next one, in the order in which they came. A caller goes
on when its write is committed. A single write never waits for others to come.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from servicekit.db.leader_lease import LeadershipLostError
from servicekit.db.postgres import is_outage

MOST_WRITES = 256
"""Of one transaction: more would hold up those that come next, and readers of PostgreSQL's locked rows."""

W = TypeVar("W")
R = TypeVar("R")


class GroupCommit(Generic[W, R]):
    """Commits writes in groups.

    `write` carries out the writes of a group in order, and gives the result of each, or the error that its caller gets;
    a write with an error must leave nothing behind. If `write` raises, or the database refuses the group, the group is
    rolled back and each of its writes is tried alone, so that no caller gets the error of another one's write. An error
    of the whole database goes to all of them: it is out of reach, or this process leads no more (LeadershipLostError).
    `committed` is called with the results of each transaction right after its commit, before any caller goes on.
    """

    def __init__(
        self,
        database: Database,
        write: Callable[[AsyncConnection, Sequence[W]], Awaitable[Sequence[R | Exception]]],
        committed: Callable[[Sequence[R]], None],
    ) -> None:
        self._database = database
        self._write = write
        self._committed = committed
        self._waiting: deque[tuple[W, asyncio.Future[R]]] = deque()
        self._is_writing = False

    async def commit(self, write: W) -> R:
        """Gives the result of a write that is committed; raises its error.

        A write whose caller is cancelled is left out if its transaction has not begun; else it takes place.
        """
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((write, done))
        if not self._is_writing:
            self._is_writing = True
            # Without the caller's context: the transactions are everybody's.
            self._database.run(self._write_all(), Context())
        return await done

    async def _write_all(self) -> None:
        try:
            while group := self._next_group():
                await self._write_group(group)
        finally:
            self._is_writing = False
            # Only if the event loop is being closed is anything left.
            for _, done in self._waiting:
                done.cancel()

    def _next_group(self) -> list[tuple[W, asyncio.Future[R]]]:
        group: list[tuple[W, asyncio.Future[R]]] = []
        while self._waiting and len(group) < MOST_WRITES:
            write, done = self._waiting.popleft()
            if not done.done():
                group.append((write, done))
        return group

    async def _write_group(self, group: Sequence[tuple[W, asyncio.Future[R]]]) -> None:
        try:
            async with self._database.short_transaction() as connection:
                results = await self._write(connection, [write for write, _ in group])
        except Exception as error:  # noqa: BLE001 - every caller gets its own
            await self._refused(group, error)
            return
        except BaseException:
            for _, done in group:
                done.cancel()
            raise
        try:
            self._committed([result for result in results if not isinstance(result, Exception)])
        finally:
            for (_, done), result in zip(group, results, strict=True):
                _end(done, result)

    async def _refused(self, group: Sequence[tuple[W, asyncio.Future[R]]], error: Exception) -> None:
        is_of_all = is_outage(error) or isinstance(error, LeadershipLostError)
        if len(group) > 1 and not is_of_all:
            for one in group:
                await self._write_group([one])
            return
        for _, done in group:
            _end(done, error)


def _end(done: asyncio.Future[R], result: R | Exception) -> None:
    if done.done():
        return
    if isinstance(result, Exception):
        done.set_exception(result)
    else:
        done.set_result(result)
