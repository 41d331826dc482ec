from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from servicekit.db.database import Database
from services.scheduler.queue.event_hub import EventHub
from services.scheduler.server import MIGRATIONS
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from tests.schemas import migrate


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = Database(database_url)
    await migrate(database, MIGRATIONS)
    yield database
    await database.close()


@pytest.fixture
def hub() -> EventHub:
    return EventHub()


@pytest.fixture
def store(database: Database, hub: EventHub) -> JobStore:
    return JobStore(database, hub.announce)


@pytest.fixture
def reader(database: Database) -> JobReader:
    return JobReader(database)
