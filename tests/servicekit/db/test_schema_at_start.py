"""What a service does about its schema when it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from servicekit.db import database
from servicekit.db.database import Database, UnknownSchemaError

SERVICES = ("billing", "scheduler", "vmpool")
START = """
import asyncio, sys
from servicekit.db.database import Database, migrate
async def start():
    database = Database(sys.argv[1])
    await migrate(database, sys.argv[2])
    await database.close()
asyncio.run(start())
print("alembic" in sys.modules)
"""
CHAIN = {
    "0003_parcels": ("None", 'op.execute("CREATE TABLE parcels (name TEXT)")'),
    "0004_sizes": ("'0003'", 'op.execute("ALTER TABLE parcels ADD COLUMN size INTEGER NOT NULL DEFAULT 7")'),
}
"""Two migrations of a made-up service."""
MIGRATION = """
from alembic import op
revision, down_revision = {revision!r}, {before}
def upgrade():
    {change}
"""


def write_migration(package: Path, name: str) -> None:
    before, change = CHAIN[name]
    text = MIGRATION.format(revision=name[:4], before=before, change=change)
    (package / "migrations" / "versions" / f"{name}.py").write_text(text)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The made-up service as it begins: with the first migration."""
    package = tmp_path / f"made_up_{os.urandom(4).hex()}"
    (package / "migrations" / "versions").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    write_migration(package, "0003_parcels")
    return package


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    db = Database(database_url)
    yield db
    await db.close()


async def execute(db: Database, statement: str) -> list[tuple[Any, ...]]:
    async with db.transaction() as connection:
        result = await connection.execute(text(statement))
        return [tuple(row) for row in result] if result.returns_rows else []


def imports_alembic(url: str, location: str) -> bool:
    """True if a process that brings this database's schema up to date needs alembic for it."""
    started = subprocess.run([sys.executable, "-c", START, url, location], capture_output=True, text=True, check=True)
    return started.stdout.strip() == "True"


@pytest.mark.parametrize("service", SERVICES)
def test_the_last_file_is_the_newest_revision(service: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(files("servicekit.db") / "migration"))
    versions = files(f"services.{service}") / "migrations" / "versions"
    config.set_main_option("version_locations", str(versions))
    config.set_main_option("path_separator", "newline")
    assert database.known_revisions(versions)[-1] == ScriptDirectory.from_config(config).get_current_head()


@pytest.mark.parametrize("service", SERVICES)
async def test_the_migrations_make_the_tables_that_the_code_declares(db: Database, service: str) -> None:
    """Indexes that only guard rows or serve one query need no declaration; the lease's table is servicekit's."""
    await database.migrate(db, f"services.{service}:migrations")
    metadata = import_module(f"services.{service}.store.tables").metadata

    def differences(connection: Connection) -> list[Any]:
        found = compare_metadata(MigrationContext.configure(connection), metadata)
        return [one for one in found if one[0] != "remove_index" and "leader_leases" not in str(one)]

    async with db.reading() as connection:
        assert await connection.run_sync(differences) == []


def test_only_a_schema_that_is_not_up_to_date_needs_alembic(database_url: str) -> None:
    location = "services.billing:migrations"
    assert [imports_alembic(database_url, location) for _ in range(2)] == [True, False]


async def test_a_later_migration_changes_a_database_that_an_earlier_version_made(db: Database, package: Path) -> None:
    await database.migrate(db, f"{package.name}:migrations")
    await execute(db, "INSERT INTO parcels VALUES ('red')")
    write_migration(package, "0004_sizes")
    for _ in range(2):
        await database.migrate(db, f"{package.name}:migrations")
    assert await execute(db, "SELECT * FROM parcels") == [("red", 7)]
    assert await execute(db, "SELECT version_num FROM alembic_version") == [("0004",)]


@pytest.mark.parametrize(
    ("revision", "fix"),
    [
        ("0002", "it upgrades from 0003 on. Start an earlier version on it once"),
        ("0009", "start the version that made it"),
    ],
)
async def test_a_database_of_an_unknown_revision_is_refused_and_left_as_it_is(
    db: Database, package: Path, revision: str, fix: str
) -> None:
    await database.migrate(db, f"{package.name}:migrations")
    await execute(db, f"UPDATE alembic_version SET version_num = '{revision}'")  # noqa: S608 - no input
    write_migration(package, "0004_sizes")
    with pytest.raises(UnknownSchemaError) as refused:
        await database.migrate(db, f"{package.name}:migrations")
    assert f"revision {revision}, which this version of Wavepool does not know; {fix}" in str(refused.value)
    assert await execute(db, "SELECT version_num FROM alembic_version") == [(revision,)]
    assert await execute(db, "SELECT * FROM parcels") == []


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_says_what_to_do_about_an_old_database_and_ends(tmp_path: Path, service: str) -> None:
    db = Database(f"sqlite+aiosqlite:///{tmp_path / service}.db")
    await database.migrate(db, f"services.{service}:migrations")
    await execute(db, "UPDATE alembic_version SET version_num = '0007'")
    await db.close()
    environment = {"PATH": os.environ["PATH"], f"{service.upper()}_DATA_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-m", f"services.{service}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == os.EX_CONFIG
    last_line = ended.stderr.splitlines()[-1]
    assert last_line.startswith(f"sqlite+aiosqlite:///{tmp_path / service}.db: the schema has revision 0007")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("service", SERVICES)
def test_a_migration_alone_needs_nothing_of_the_network(service: str, tmp_path: Path) -> None:
    open_to_others = {"HOST": "::", "DATA_DIR": str(tmp_path)}
    environment = os.environ | {f"{service.upper()}_{name}": value for name, value in open_to_others.items()}
    command = [sys.executable, "-m", f"services.{service}", "--migrate"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / f"{service}.db").stat().st_size > 0
