"""A database with the table of leader leases, for tests of those that hold them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy import Column, Integer, MetaData, Table, func, insert, select, update

from servicekit.db.database import Database
from servicekit.db.leader_lease import leader_leases

ROLE = "vmpool"
notes = Table("notes", MetaData(), Column("epoch", Integer, nullable=False))
"""What holders write; without a key, so that it tells of every write."""


async def prepare(url: str, role: str = ROLE) -> None:
    """Makes the tables if need be, and a free lease of `role`."""
    async with opened(url) as database, database.unfenced() as connection:
        await connection.run_sync(leader_leases.metadata.create_all)
        await connection.run_sync(notes.metadata.create_all)
        row = {"role": role, "holder": "", "address": "", "epoch": 0, "expire_time": 0}
        await connection.execute(insert(leader_leases).values(row))


@asynccontextmanager
async def opened(url: str) -> AsyncGenerator[Database]:
    """The database as another process sees it."""
    database = Database(url)
    try:
        yield database
    finally:
        await database.close()


async def expire(url: str, role: str = ROLE) -> None:
    """Ends the term of whoever holds the lease."""
    async with opened(url) as database, database.unfenced() as connection:
        await connection.execute(
            update(leader_leases).where(leader_leases.c.role == role).values(expire_time=0, holder="")
        )


async def note(database: Database, epoch: int | None) -> None:
    """Writes a note as this process."""
    async with database.transaction() as connection:
        await connection.execute(insert(notes).values(epoch=epoch))


async def noted(url: str) -> list[int]:
    """The epochs of all notes, each once, in order."""
    async with opened(url) as database, database.reading() as connection:
        rows = await connection.execute(select(notes.c.epoch).distinct().order_by(notes.c.epoch))
        return [row.epoch for row in rows]


async def notes_of(url: str, epoch: int) -> int:
    """Number of notes of an epoch."""
    async with opened(url) as database, database.reading() as connection:
        query = select(func.count()).select_from(notes).where(notes.c.epoch == epoch)
        return (await connection.execute(query)).scalar_one()
