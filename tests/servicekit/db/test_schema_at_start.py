"""What a service does about its schema when it starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from servicekit.db import act_store, database
from servicekit.db.database import Database, UnknownSchemaError

SERVICES = ("billing", "scheduler", "vmpool")
OF_THE_KIT = ("leader_leases", database.COMPATIBILITY)
"""Tables that servicekit has in the services' databases."""
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
AGAIN = "with op.batch_alter_table('parcels', recreate='always') as table: table"
"""SQLite changes a table in such ways by making it again."""
MIGRATION = """
import sqlalchemy as sa
from alembic import op
from servicekit.db.migration.moves import refuse
revision, down_revision = {revision!r}, {before}
EXPANDS = {expands}
def upgrade():
    {change}
"""


def write_migration(package: Path, name: str, change: str = "", *, expands: bool = False) -> None:
    before, usual = CHAIN[name]
    text = MIGRATION.format(revision=name[:4], before=before, change=change or usual, expands=expands)
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


def versions_of(service: str) -> Traversable:
    return files(f"services.{service}") / "migrations" / "versions"


async def upgrade_to(db: Database, versions: Traversable, revision: str) -> None:
    def upgrade(connection: Connection) -> None:
        with database.alembic_config(connection, versions) as config:
            command.upgrade(config, revision)

    async with db.transaction() as connection:
        await connection.run_sync(upgrade)


async def shape_of(db: Database) -> dict[str, tuple[Any, ...]]:
    """What code that does not know of a change relies on: each table, column and rule, by its name."""

    def read(connection: Connection) -> dict[str, tuple[Any, ...]]:
        seen, shape = inspect(connection), dict[str, tuple[Any, ...]]()
        for table in seen.get_table_names():
            shape[table] = ("table",)
            for column in seen.get_columns(table):
                needed = not column["nullable"] and column["default"] is None
                shape[f"{table}.{column['name']}"] = ("column", str(column["type"]), column["nullable"], needed)
            rules = (
                seen.get_foreign_keys(table) + seen.get_unique_constraints(table) + seen.get_check_constraints(table)
            )
            rules += [index for index in seen.get_indexes(table) if index["unique"]]
            for rule in rules:
                named = sorted((key, str(value)) for key, value in rule.items() if key != "dialect_options")
                shape[f"{table}: {named}"] = ("rule", table)
        triggers = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'"
        if connection.dialect.name == "postgresql":
            triggers = "SELECT tgname, tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
        for name, table in connection.execute(text(triggers)):
            shape[f"{table}: trigger {name}"] = ("rule", table)
        return shape

    async with db.reading() as connection:
        return await connection.run_sync(read)


def hindrances(before: dict[str, tuple[Any, ...]], after: dict[str, tuple[Any, ...]]) -> list[str]:
    """What of a change of the schema the code of before would stumble over."""
    found = [f"{name} is gone or changed" for name in before if after.get(name) != before[name]]
    for name in after.keys() - before:
        kind, *rest = after[name]
        if kind == "column" and rest[2] and name.partition(".")[0] in before:
            found.append(f"{name} must be given")
        if kind == "rule" and rest[0] in before:
            found.append(f"{name} is new")
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_the_last_file_is_the_newest_revision(service: str) -> None:
    with database.alembic_config(cast("Connection", None), versions_of(service)) as config:
        newest = ScriptDirectory.from_config(config).get_current_head()
    assert database.known_revisions(versions_of(service))[-1] == newest


@pytest.mark.parametrize("service", SERVICES)
async def test_a_migration_that_says_it_only_expands_leaves_all_that_the_code_before_it_uses(
    db: Database, service: str
) -> None:
    with database.alembic_config(cast("Connection", None), versions_of(service)) as config:
        newest_first = list(ScriptDirectory.from_config(config).walk_revisions())
    expanding = list(takewhile(lambda one: getattr(one.module, "EXPANDS", False), newest_first))
    await upgrade_to(db, versions_of(service), newest_first[len(expanding)].revision)
    for migration in reversed(expanding):
        before = await shape_of(db)
        await upgrade_to(db, versions_of(service), migration.revision)
        assert hindrances(before, await shape_of(db)) == [], migration.revision


@pytest.mark.parametrize(
    ("change", "hindrance"),
    [
        ('op.add_column("parcels", sa.Column("size", sa.Integer))', []),
        ('op.add_column("parcels", sa.Column("size", sa.Integer, server_default="7", nullable=False))', []),
        ('op.create_table("sizes", sa.Column("size", sa.Integer, nullable=False, unique=True))', []),
        ('op.create_index("by_name", "parcels", ["name"])', []),
        ('op.create_index("by_name", "parcels", ["name"], unique=True)', ["is new"]),
        (f"{AGAIN}.add_column(sa.Column('size', sa.Integer, nullable=False))", ["must be given"]),
        (f"{AGAIN}.alter_column('name', nullable=False)", ["is gone or changed"]),
        ('op.execute("ALTER TABLE parcels RENAME COLUMN name TO title")', ["is gone or changed"]),
        ('op.drop_table("parcels")', ["is gone or changed", "is gone or changed"]),
        ('refuse("UPDATE", "parcels", "parcels_stay", "true", "no")', ["is new"]),
    ],
)
async def test_what_the_code_before_a_migration_would_stumble_over_is_found(
    db: Database, package: Path, change: str, hindrance: list[str]
) -> None:
    versions = files(package.name) / "migrations" / "versions"
    await database.migrate(db, f"{package.name}:migrations")
    before = await shape_of(db)
    write_migration(package, "0004_sizes", change)
    await upgrade_to(db, versions, "0004")
    found = hindrances(before, await shape_of(db))
    assert len(found) == len(hindrance)
    assert all(words in one for words, one in zip(hindrance, sorted(found), strict=True)), found


@pytest.mark.parametrize("service", SERVICES)
async def test_the_migrations_make_the_tables_that_the_code_declares(db: Database, service: str) -> None:
    """Indexes that only guard rows or serve one query need no declaration."""
    await database.migrate(db, f"services.{service}:migrations")
    metadata = import_module(f"services.{service}.store.tables").metadata

    def differences(connection: Connection) -> list[Any]:
        found = compare_metadata(MigrationContext.configure(connection), [metadata, act_store.metadata])
        return [one for one in found if one[0] != "remove_index" and not any(name in str(one) for name in OF_THE_KIT)]

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
        ("0009", "which code of 0005 or later can use; start the version that made it"),
    ],
)
async def test_a_database_of_an_unknown_revision_is_refused_and_left_as_it_is(
    db: Database, package: Path, revision: str, fix: str
) -> None:
    await database.migrate(db, f"{package.name}:migrations")
    await execute(db, f"UPDATE alembic_version SET version_num = '{revision}'")  # noqa: S608 - no input
    write_migration(package, "0004_sizes")
    await execute(db, f"UPDATE {database.COMPATIBILITY} SET compatible_since = '0005'")  # noqa: S608 - no input
    with pytest.raises(UnknownSchemaError) as refused:
        await database.migrate(db, f"{package.name}:migrations")
    assert f"revision {revision}, and this version of Wavepool knows 0003 to 0004; {fix}" in str(refused.value)
    assert await execute(db, "SELECT version_num FROM alembic_version") == [(revision,)]
    assert await execute(db, "SELECT * FROM parcels") == []


@pytest.mark.parametrize("expands", [True, False])
async def test_code_runs_on_a_newer_schema_if_that_only_expanded(db: Database, package: Path, *, expands: bool) -> None:
    location = f"{package.name}:migrations"
    write_migration(package, "0004_sizes", expands=expands)
    await database.migrate(db, location)
    (package / "migrations" / "versions" / "0004_sizes.py").unlink()
    if expands:
        await database.migrate(db, location)
    else:
        with pytest.raises(UnknownSchemaError, match=r"0003 to 0003; which code of 0004 or later can use"):
            await database.migrate(db, location)
    assert await execute(db, "SELECT version_num FROM alembic_version") == [("0004",)]


async def test_a_newer_schema_that_does_not_say_who_can_use_it_is_refused(db: Database, package: Path) -> None:
    """As a version of before that rule makes it."""
    await database.migrate(db, f"{package.name}:migrations")
    await execute(db, "UPDATE alembic_version SET version_num = '0009'")
    await execute(db, f"DROP TABLE {database.COMPATIBILITY}")
    with pytest.raises(UnknownSchemaError, match=r"knows 0003 to 0003; start the version that made it"):
        await database.migrate(db, f"{package.name}:migrations")


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
