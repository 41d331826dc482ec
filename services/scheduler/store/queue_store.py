"""Keeps the tree of queues: read as a whole, and replaced as a whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.db.database import Database
from services.scheduler.fairness.kai.usage import UsageRecord
from services.scheduler.fairness.settings import Queues, QueueSettings, from_json, to_json
from services.scheduler.jobs.errors import QueueHasJobsError, QueuesChangedError
from services.scheduler.jobs.states import IN_FLIGHT_STATES
from services.scheduler.store.tables import jobs, queue_tree, queue_usage, queues


class QueueStore:
    """The stored tree."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def generation(self) -> int:
        """Counts up with each change."""
        async with self._database.reading() as connection:
            return (await connection.execute(select(queue_tree.c.generation))).scalar_one()

    async def read(self) -> tuple[Queues, int]:
        """The tree and its generation."""
        async with self._database.reading() as connection:
            return await _read(connection)

    async def replace(self, tree: Queues, generation: int) -> int:
        """Replaces the tree of that generation; gives the new generation.

        Raises QueuesChangedError if the tree has another generation, and QueueHasJobsError if a queue that goes or gets
        children has jobs in flight. Nothing is changed then.
        """
        async with self._database.transaction() as connection:
            moved = update(queue_tree).where(queue_tree.c.generation == generation).values(generation=generation + 1)
            if (await connection.execute(moved)).rowcount != 1:
                raise QueuesChangedError
            in_use = await _jobs_in_flight(connection)
            for name, count in sorted(in_use.items()):
                if name not in tree.leaves:
                    raise QueueHasJobsError(name, count, goes=name not in tree.by_name)
            await connection.execute(delete(queues))
            rows = [
                {"name": queue.name, "position": position, "settings": json.dumps(to_json(queue))}
                for position, queue in enumerate(tree.by_name.values())
            ]
            await connection.execute(insert(queues), rows)
        return generation + 1

    async def read_usage(self) -> dict[tuple[str, str], UsageRecord]:
        """What queues used lately, by GPU type and queue."""
        async with self._database.reading() as connection:
            rows = await connection.execute(select(queue_usage))
            return {(row.gpu_type, row.queue): UsageRecord(row.time_seconds, row.used, row.capacity) for row in rows}

    async def write_usage(self, records: Mapping[tuple[str, str], UsageRecord]) -> None:
        """Replaces what `read_usage` gives."""
        rows = [{"gpu_type": gpu_type, "queue": name, **asdict(one)} for (gpu_type, name), one in records.items()]
        async with self._database.transaction() as connection:
            await connection.execute(delete(queue_usage))
            if rows:
                await connection.execute(insert(queue_usage), rows)


async def _read(connection: AsyncConnection) -> tuple[Queues, int]:
    generation = (await connection.execute(select(queue_tree.c.generation))).scalar_one()
    rows = await connection.execute(select(queues.c.settings).order_by(queues.c.position))
    described: list[QueueSettings] = [from_json(json.loads(row.settings)) for row in rows]
    return Queues(described), generation


async def _jobs_in_flight(connection: AsyncConnection) -> Counter[str]:
    query = select(jobs.c.queue, func.count().label("jobs")).where(jobs.c.state.in_(IN_FLIGHT_STATES))
    rows = await connection.execute(query.group_by(jobs.c.queue))
    return Counter({row.queue: row.jobs for row in rows})
