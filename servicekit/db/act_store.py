"""The audit log of a service: one row for each act before it is carried out, and one for its outcome after it.

Rows are written once. An act without an outcome is one whose process ended in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, MetaData, Select, Table, Text, and_, insert, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.actor import Actor, note_before
from servicekit.clock import Clock
from servicekit.db.database import Database, Instant
from servicekit.records import row_of

metadata = MetaData()
acts = Table(
    "acts",
    metadata,
    Column("act_id", Text, primary_key=True),
    Column("time", Instant, nullable=False),
    *(Column(name, Text, nullable=False) for name in ("kind", "user_id", "user_name", "token_id", "address")),
    *(Column(name, Text, nullable=False) for name in ("request", "request_id")),
    Index("acts_time", "time", "act_id"),
)
outcomes = Table(
    "act_outcomes",
    metadata,
    Column("act_id", Text, ForeignKey("acts.act_id"), primary_key=True),
    *(Column(name, Text, nullable=False) for name in ("outcome", "message", "before", "after")),
)


async def note_rows_before(connection: AsyncConnection, query: Select[Any]) -> None:
    """Tells the audit log the rows that are about to be changed, by the names of their columns."""
    note_before(*(dict(row) for row in (await connection.execute(query)).mappings()))


@dataclass(frozen=True)
class ActFilter:
    """Which acts to list; what is empty matches all."""

    user: str = ""
    """An id or a name."""
    kind: str = ""
    from_time: datetime | None = None
    to_time: datetime | None = None
    before: tuple[datetime, str] | None = None
    """Only acts that come after this time and id in a list from the newest on."""


class ActStore:
    """Writes and lists the acts of one service.

    Any process of it may write: a follower has refusals to write down, too.
    """

    def __init__(self, database: Database, clock: Clock, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def begin(self, kind: str, actor: Actor, request: str, request_id: str) -> str:
        """Writes down what is about to be done; gives the act's id."""
        return await self._add(kind, actor, request, request_id)

    async def end(self, act_id: str, outcome: str, message: str = "", before: str = "", after: str = "") -> None:
        """Writes down how it ended."""
        row = {"act_id": act_id, "outcome": outcome, "message": message, "before": before, "after": after}
        async with self._database.unfenced() as connection:
            await connection.execute(insert(outcomes).values(row))

    async def refused(
        self, kind: str, actor: Actor, request: str, request_id: str, message: str, outcome: str = "PERMISSION_DENIED"
    ) -> None:
        """Writes down an attempt that was refused before it began."""
        act_id = await self._add(kind, actor, request, request_id)
        await self.end(act_id, outcome, message)

    async def list(self, wanted: ActFilter, limit: int) -> Sequence[Any]:
        """Rows of acts with their outcomes, newest first."""
        own = outcomes.c.outcome, outcomes.c.message, outcomes.c.before, outcomes.c.after
        query = select(acts, *own).outerjoin(outcomes, outcomes.c.act_id == acts.c.act_id)
        if wanted.user:
            query = query.where(or_(acts.c.user_id == wanted.user, acts.c.user_name == wanted.user))
        if wanted.kind:
            query = query.where(acts.c.kind == wanted.kind)
        if wanted.from_time:
            query = query.where(acts.c.time >= wanted.from_time)
        if wanted.to_time:
            query = query.where(acts.c.time < wanted.to_time)
        if wanted.before:
            time, act_id = wanted.before
            query = query.where(or_(acts.c.time < time, and_(acts.c.time == time, acts.c.act_id < act_id)))
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(acts.c.time.desc(), acts.c.act_id.desc()).limit(limit))
            return rows.all()

    async def _add(self, kind: str, actor: Actor, request: str, request_id: str) -> str:
        act_id = self._new_id("act")
        given = {"act_id": act_id, "time": self._clock.now(), "kind": kind, "request": request}
        async with self._database.unfenced() as connection:
            await connection.execute(insert(acts).values(row_of(acts, actor, request_id=request_id, **given)))
        return act_id
