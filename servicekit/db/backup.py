"""Copies of a service's database for backups, made while the service runs, and put into an empty database.

SQLite's own backup makes those of SQLite, `pg_dump` and `pg_restore` those of PostgreSQL. A copy is of one moment. A
database that it is put into has the table `UNFINISHED` until the installation's other databases are there as well. No
service starts on it, and another try may replace it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import sqlite3
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, func, inspect, make_url, select, table, text

from servicekit.db.database import UNFINISHED, Database, known_revisions, migrate, open_database, revisions_of
from servicekit.settings.config import ServiceSettings, WrongSettingsError

Facts = dict[str, Any]
"""What a service says about a copy, as JSON."""
_SQLITE_BEGINS = b"SQLite format 3"
_LAST_WORDS = 500
_COPIED_REVISION = re.compile(r"^COPY [^\n]*alembic_version[^\n]*\n(\S+)$", re.MULTILINE)
_REMOVE_ALL = """
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT oid::regclass AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_has_role(relowner, 'MEMBER')
  LOOP EXECUTE format('DROP TABLE %s CASCADE', one.name); END LOOP;
  FOR one IN SELECT oid::regprocedure AS name FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND pg_has_role(proowner, 'MEMBER')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  LOOP EXECUTE format('DROP FUNCTION %s CASCADE', one.name); END LOOP;
END $$
"""


class Keeping:
    """What is done to the database of a service that need not run."""

    def __init__(
        self,
        service: str,
        settings: Callable[[], ServiceSettings],
        *,
        restored: Callable[[Database, Facts], Awaitable[Facts]],
        faults: Callable[[Database], Awaitable[Sequence[str]]] | None = None,
    ) -> None:
        """`restored` changes what an old copy may not say any more; it gets what the services before it gave."""
        self._service = service
        self._settings = settings
        self._restored = restored
        self._faults = faults
        self._migrations = f"services.{service}:migrations"
        self._field = f"{service.upper()}_DATABASE_URL"

    async def do(self, work: str, file: Path) -> None:
        """Does one of `servicekit.rpc.server.DATABASE_WORK`; its answer, if it has one, is printed as JSON.

        Raises WrongSettingsError if that cannot be done with this database and file.
        """
        works: Mapping[str, Callable[[Path], Awaitable[Facts | None]]] = {
            "migrate": self._migrate,
            "back-up": self._back_up,
            "check-restore": self._check_restore,
            "restore": self._restore,
            "open-restored": self._open_restored,
            "recovered": self._recovered,
            "verify": self._verify,
        }
        answer = await works[work](file)
        if answer is not None:
            sys.stdout.write(f"{json.dumps(answer)}\n")

    async def _migrate(self, _file: Path) -> None:
        async with self._opened(self._settings()) as database:
            await migrate(database, self._migrations)

    async def _back_up(self, file: Path) -> Facts:
        settings, now = self._settings(), datetime.now(UTC)
        async with self._opened(settings) as database, database.snapshot() as connection:
            facts = await connection.run_sync(_facts)
            if not facts["revision"]:
                raise WrongSettingsError(f"{self._field}: {_shown(database)} has no tables of {self._service}")
            os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
            if database.dialect_name == "sqlite":
                await asyncio.to_thread(_copy, Path(database.engine.url.database or ""), file)
                facts = await _facts_of_sqlite(file)
            else:
                moment = await connection.scalar(text("SELECT pg_export_snapshot()"))
                await self._run(settings, "pg_dump", "--format=custom", f"--snapshot={moment}", f"--file={file}")
            return facts | {"time": now.isoformat(timespec="seconds"), "engine": database.dialect_name}

    async def _check_restore(self, file: Path) -> None:
        """Raises WrongSettingsError if the copy cannot be put into the database, and changes nothing."""
        settings = self._settings()
        engine, revision = _engine_of(file), await self._revision_in(settings, file)
        known = known_revisions(files(f"services.{self._service}") / "migrations" / "versions")
        if revision not in known:
            raise WrongSettingsError(
                f"{file}: its schema has revision {revision or 'none'}, and this version of Wavepool knows {known[0]} "
                f"to {known[-1]}; restore it with the version that made it, which manifest.json names, and upgrade then"
            )
        async with self._opened(settings) as database:
            if engine != database.dialect_name:
                raise WrongSettingsError(
                    f"{self._field}: {_shown(database)} is not of {engine}, as the backup is; name a database that is"
                )
            async with database.reading() as connection:
                tables = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
            if tables and UNFINISHED not in tables:
                raise WrongSettingsError(
                    f"{self._field}: {_shown(database)} has {len(tables)} tables; a backup is restored into an empty "
                    "database: name another, or move this one away"
                )

    async def _restore(self, file: Path) -> Facts:
        settings = self._settings()
        await self._check_restore(file)
        told: Facts = json.load(sys.stdin)
        async with self._opened(settings) as database:
            await self._load(database, settings, file, unfinished=True)
            await migrate(database, self._migrations, unfinished=True)
            return await self._restored(database, told)

    async def _recovered(self, _file: Path) -> Facts:
        async with self._opened(self._settings()) as database:
            await migrate(database, self._migrations)
            return await self._restored(database, json.load(sys.stdin))

    async def _open_restored(self, _file: Path) -> None:
        async with self._opened(self._settings()) as database, database.unfenced() as connection:
            await connection.execute(text(f"DROP TABLE {UNFINISHED}"))

    async def _verify(self, file: Path) -> Facts:
        async with self._temporary(file) as settings, self._opened(settings) as database:
            await self._load(database, settings, file)
            async with database.snapshot() as connection:
                facts = await connection.run_sync(_facts)
            await migrate(database, self._migrations)
            return facts | {"faults": list(await self._faults(database)) if self._faults else []}

    async def _load(
        self, database: Database, settings: ServiceSettings, file: Path, *, unfinished: bool = False
    ) -> None:
        mark = f"CREATE TABLE {UNFINISHED} (since TEXT)"
        if database.dialect_name == "sqlite":
            target = Path(database.engine.url.database or "")
            await asyncio.to_thread(_put_back, file, target, mark if unfinished else "")
            return
        async with database.unfenced() as connection:
            await connection.exec_driver_sql(_REMOVE_ALL)
            if unfinished:
                await connection.exec_driver_sql(mark)
        await self._run(settings, "pg_restore", "--single-transaction", "--exit-on-error", "--no-owner", str(file))

    async def _revision_in(self, settings: ServiceSettings, file: Path) -> str:
        if _engine_of(file) == "sqlite":
            return await asyncio.to_thread(_revision_in_sqlite, file)
        words = ("--data-only", "--table=alembic_version", "--file=-", str(file))
        found = _COPIED_REVISION.search(await self._run(settings, "pg_restore", *words, connects=False))
        return found[1] if found else ""

    async def _run(self, settings: ServiceSettings, program: str, *words: str, connects: bool = True) -> str:
        """Runs a program of PostgreSQL on the database; raises WrongSettingsError with its last words."""
        url = make_url(settings.resolved_database_url(self._service))
        password = settings.database_password_file.read_text("utf-8").strip() if settings.database_password_file else ""
        address = url.set(drivername="postgresql", password=None).render_as_string()
        try:
            process = await asyncio.create_subprocess_exec(
                *(program, "--no-privileges", *words, *((f"--dbname={address}",) if connects else ())),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=os.environ | {"PGPASSWORD": password or url.password or ""},
            )
        except FileNotFoundError as error:
            raise WrongSettingsError(
                f"{program} is not installed; install Debian's postgresql-client, at least as new as the server"
            ) from error
        output, errors = await process.communicate()
        if process.returncode:
            said = errors.decode(errors="replace").strip()[-_LAST_WORDS:]
            raise WrongSettingsError(f"{self._field}: {program} ended with status {process.returncode}: {said}")
        return output.decode(errors="replace")

    @asynccontextmanager
    async def _opened(self, settings: ServiceSettings) -> AsyncGenerator[Database]:
        database = open_database(settings, self._service)
        try:
            await database.until_reachable()
            yield database
        finally:
            await database.close()

    @asynccontextmanager
    async def _temporary(self, file: Path) -> AsyncGenerator[ServiceSettings]:
        """Settings with an empty database of the kind that the copy is of, for as long as it is needed."""
        settings = self._settings()
        if _engine_of(file) == "sqlite":
            with tempfile.TemporaryDirectory(prefix="wavepool-verify-") as folder:
                yield settings.model_copy(update={"database_url": f"sqlite+aiosqlite:///{folder}/copy.db"})
            return
        url = make_url(settings.database_url or "sqlite://")
        if url.get_backend_name() != "postgresql":
            raise WrongSettingsError(f"{self._field}: the backup is of postgresql; name a database of a server for it")
        name = f"wavepool_verify_{secrets.token_hex(6)}"
        async with self._opened(settings) as server:
            await _execute_alone(server, f'CREATE DATABASE "{name}"')
            try:
                there = url.set(database=name).render_as_string(hide_password=False)
                yield settings.model_copy(update={"database_url": there})
            finally:
                await _execute_alone(server, f'DROP DATABASE "{name}"')


def _shown(database: Database) -> str:
    return database.engine.url.render_as_string()


def _engine_of(file: Path) -> str:
    with file.open("rb") as copy:
        return "sqlite" if copy.read(len(_SQLITE_BEGINS)) == _SQLITE_BEGINS else "postgresql"


def _revision_in_sqlite(file: Path) -> str:
    with closing(sqlite3.connect(f"file:{quote(str(file.resolve()))}?immutable=1", uri=True)) as copy:
        return str(copy.execute("SELECT max(version_num) FROM alembic_version").fetchone()[0])


def _copy(source: Path, target: Path) -> None:
    """Copies a database of SQLite, which others may be using, as it is at one moment, over another."""
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


def _put_back(source: Path, target: Path, mark: str) -> None:
    """As `_copy`; if a statement is given, it is executed before anybody sees the rest."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".restoring-") as folder:
        marked = Path(folder, target.name)
        _copy(source, marked)
        with closing(sqlite3.connect(marked)) as copy:
            copy.execute(mark or "SELECT 1")
        _copy(marked, target)


async def _facts_of_sqlite(file: Path) -> Facts:
    database = Database(f"sqlite+aiosqlite:///{file}")
    try:
        async with database.reading() as connection:
            return await connection.run_sync(_facts)
    finally:
        await database.close()
        with closing(sqlite3.connect(file)) as copy:
            # One file alone, which may be read where nothing can be written.
            copy.execute("PRAGMA journal_mode = DELETE")


def _facts(connection: Connection) -> Facts:
    """The revision of a schema, empty if there is none, and the number of rows of each table."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    tables = [name for name in inspect(connection).get_table_names() if name != UNFINISHED]
    count = select(func.count())
    rows = {name: connection.scalar(count.select_from(table(name))) for name in sorted(tables)}
    return {"revision": "".join(revisions_of(connection)), "rows": rows}


async def _execute_alone(database: Database, statement: str) -> None:
    """Executes a statement that may not be part of a transaction."""
    async with database.engine.connect() as connection:
        await (await connection.execution_options(isolation_level="AUTOCOMMIT")).exec_driver_sql(statement)
