"""Keeps what images of reservations are built from: archives with a Dockerfile, once for each account and digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import Column, Text, delete, exists, func, insert, select, type_coerce, update

from servicekit.db.database import Database
from services.scheduler.jobs.errors import TooManyBuildsError
from services.scheduler.jobs.states import IN_FLIGHT_STATES
from services.scheduler.store.disk_store import DiskStore
from services.scheduler.store.tables import build_contexts, jobs

T = TypeVar("T")

MOST_OF_ACCOUNT = 50
KEPT = timedelta(days=1)


class BuildStore:
    """The stored archives."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, account_id: str, digest: str, content: bytes, now: datetime) -> None:
        """Stores an archive, and removes those of all accounts that nobody needs; raises TooManyBuildsError."""
        reservation = type_coerce(jobs.c.reservation, Text)
        needed = exists().where(
            jobs.c.account_id == build_contexts.c.account_id,
            jobs.c.state.in_(IN_FLIGHT_STATES),
            reservation.contains(build_contexts.c.digest),
        )
        mine = (build_contexts.c.account_id == account_id, build_contexts.c.digest == digest)
        async with self._database.transaction() as connection:
            await connection.execute(delete(build_contexts).where(build_contexts.c.time < now - KEPT, ~needed))
            again = await connection.execute(update(build_contexts).where(*mine).values(time=now))
            if again.rowcount:
                return
            count = select(func.count()).where(build_contexts.c.account_id == account_id)
            if (await connection.execute(count)).scalar_one() >= MOST_OF_ACCOUNT:
                raise TooManyBuildsError(MOST_OF_ACCOUNT)
            row = {"account_id": account_id, "digest": digest, "content": content, "time": now}
            await connection.execute(insert(build_contexts), row)

    async def has(self, account_id: str, digest: str) -> bool:
        """True if the account has this archive."""
        return await self._found(build_contexts.c.digest, account_id, digest) is not None

    async def content(self, account_id: str, digest: str) -> bytes | None:
        """The archive; None if it is not here."""
        return await self._found(build_contexts.c.content, account_id, digest)

    async def _found(self, column: Column[T], account_id: str, digest: str) -> T | None:
        mine = (build_contexts.c.account_id == account_id, build_contexts.c.digest == digest)
        async with self._database.snapshot() as connection:
            return (await connection.execute(select(column).where(*mine))).scalar_one_or_none()


@dataclass(frozen=True)
class SessionStores:
    """What sessions begin with."""

    disks: DiskStore
    builds: BuildStore
