"""Databases with the newest schema, for tests that are not about migrations.

A service's migrations take a tenth of a second of processor time, and a copy of what they made a few milliseconds.
So each process migrates one database of each kind for each service, and the others are copies of it.
"""

from __future__ import annotations

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from servicekit.db import database


async def migrate(db: database.Database, location: str) -> None:
    """Does what the services do at their start. A SQLite file that does not exist yet begins as a copy."""
    file = Path(db.engine.url.database or "")
    if db.dialect_name == "sqlite" and not file.exists():
        file.write_bytes(_migrated_file(location))
    await database.migrate(db, location)


def prepare(data_dir: Path) -> None:
    """Puts databases into the new data folder of a Wavepool, in which its services find nothing to migrate."""
    for service in ("billing", "scheduler", "vmpool"):
        file = data_dir / f"{service}.db"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_bytes(_migrated_file(f"services.{service}:migrations"))


def migrate_now(url: str, location: str) -> None:
    """Migrates the database of this URL, whether a loop runs or not, and leaves no connection to it."""

    async def migrated() -> None:
        db = database.Database(url)
        await database.migrate(db, location)
        await db.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrated()).result()


@cache
def _migrated_file(location: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "template.db")
        migrate_now(f"sqlite+aiosqlite:///{file}", location)
        return file.read_bytes()
