"""One database for a service: SQLite in a file or PostgreSQL by URL, behind the same SQLAlchemy Core code.

On SQLite every writing transaction begins with BEGIN IMMEDIATE: a deferred one that has to become a writer fails at
once, whatever the busy timeout, when another process wrote in between. Reading transactions stay deferred, and with
the write-ahead log they never wait for a writer.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from contextvars import Context
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import BigInteger, Connection, Dialect, TypeDecorator, event, inspect, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from servicekit import logging
from servicekit.db import postgres
from servicekit.db.postgres import DatabaseOptions
from servicekit.db.sqlite_connection import SqliteConnection
from servicekit.metrics import gauge
from servicekit.settings.config import ServiceSettings, WrongSettingsError
from servicekit.storage import DatabaseAwayError

if TYPE_CHECKING:
    from alembic.config import Config

log = logging.get_logger(__name__)
connections_in_use = gauge("wavepool_database_connections_in_use", "Connections that transactions have now.")
connections_waited_for = gauge(
    "wavepool_database_connections_waited_for", "Transactions that wait for a connection to the database now."
)

COMPATIBILITY = "schema_compatibility"
"""A table of one row, beside alembic's: the revision of the oldest code that can use the schema."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
BUSY_TIMEOUT_MS = 10_000
READING = {"wavepool_reading": True}
SHORT = {"wavepool_short": True}
WAIT_SECONDS = 1.0
WAIT_LOG_SECONDS = 10.0
LOOK_SECONDS, LOOK_LIMIT_SECONDS = 1.0, 3.0
"""Together less than the 5 s within which a database that is out of reach is reported."""
HEAR_SECONDS = 5.0
UNFINISHED = "unfinished_restore"
"""The table of a database that a backup is being restored into (servicekit/db/backup.py)."""
SNAPSHOT = READING | {"isolation_level": "REPEATABLE READ"}


class UnknownSchemaError(WrongSettingsError):
    """The schema of a database is older than the first migration here, or newer than the last and not usable.

    `compatible_since` is the oldest version of the code that can use a newer one; empty if the database does not say.
    """

    def __init__(self, url: str, revision: str, known: Sequence[str], compatible_since: str) -> None:
        first, last = known[0], known[-1]
        fix = f"it upgrades from {first} on. Start an earlier version on it once, which brings it to {first}"
        if revision > last:
            usable = f"which code of {compatible_since} or later can use; " if compatible_since else ""
            fix = f"{usable}start the version that made it"
        super().__init__(
            f"{url}: the schema has revision {revision}, and this version of Wavepool knows {first} to {last}; {fix}, "
            "or use an empty database. See docs/operations.md, Data."
        )


class Instant(TypeDecorator[datetime]):
    """An aware datetime, stored as whole microseconds since 1970 so that both databases sort and keep it exactly."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Converts a value for the database; raises TypeError for a naive datetime, which is a bug."""
        del dialect
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ANN401 - the base's
        """Converts a value from the database."""
        del dialect
        return None if value is None else EPOCH + int(value) * MICROSECOND


_USUAL = DatabaseOptions()


class Database:
    """Connections to one database; create it once in `server.py` and close it at the end.

    Transactions raise DatabaseAwayError if PostgreSQL is out of reach, restarts, or takes too long.
    """

    def __init__(self, url: str, options: DatabaseOptions = _USUAL) -> None:
        """Raises WrongSettingsError if the URL is wrong; connects to nothing yet."""
        self._engine = _create_engine(url, options)
        self._options = options
        # SQLite has one writer at a time, and one that waits for it in the database asks again at growing intervals,
        # so that some wait for a second while others overtake. This queue lets them in as they came.
        self._writers = asyncio.Lock() if self.dialect_name == "sqlite" else nullcontext()
        self._running: set[asyncio.Task[None]] = set()
        self.fence: Callable[[AsyncConnection], Awaitable[None]] | None = None
        """What every writing transaction begins with; it raises if this process may not write any more."""

    @property
    def engine(self) -> AsyncEngine:
        """SQLAlchemy's engine, for migrations, locks and tests."""
        return self._engine

    @property
    def dialect_name(self) -> str:
        """Name of the dialect: `sqlite` or `postgresql`."""
        return self._engine.dialect.name

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[AsyncConnection]:
        """A writing transaction: committed at the end, rolled back by an exception. Raises what the fence raises."""
        async with self.unfenced() as connection:
            await self._check_fence(connection)
            yield connection

    @asynccontextmanager
    async def unfenced(self) -> AsyncGenerator[AsyncConnection]:
        """A writing transaction of a process that need not lead: a migration, or the leader lease itself."""
        async with self._writers, self._connected() as connection, connection.begin():
            yield connection

    @asynccontextmanager
    async def short_transaction(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction as `transaction`, of statements that each change or find few rows by an index.

        On SQLite they run in the thread of the event loop, which saves more time than they take.
        """
        async with self._writers, self._connected() as connection:
            await connection.execution_options(**SHORT)
            async with connection.begin():
                await self._check_fence(connection)
                yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction for reading; on SQLite it neither waits for writers nor holds them up."""
        async with self._connected() as connection:
            await connection.execution_options(**READING)
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[AsyncConnection]:
        """A transaction for reading, all of whose queries see the same moment. On SQLite every one is."""
        async with self._connected() as connection:
            await connection.execution_options(**(SNAPSHOT if self.dialect_name == "postgresql" else READING))
            yield connection

    def run(self, work: Coroutine[Any, Any, None], context: Context) -> None:
        """Starts work on the database that ends by itself; `close` waits for it."""
        task = asyncio.create_task(work, context=context)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    @asynccontextmanager
    async def listening(self, channel: str, heard: Callable[[str], None]) -> AsyncGenerator[asyncio.Event]:
        """Calls `heard` with the payload of each notification of a channel, on PostgreSQL alone.

        Yields an event that is set if the connection breaks, after which nothing is heard any more.
        """
        broken = asyncio.Event()
        async with self._connected() as connection:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            driver.add_termination_listener(lambda _connection: broken.set())  # pyright: ignore[reportUnknownLambdaType] - asyncpg has no types

            def pass_on(_connection: object, _pid: int, _channel: str, payload: str) -> None:
                heard(payload)

            await driver.add_listener(channel, pass_on)
            try:
                yield broken
            finally:
                # The pool must not hand out a connection that listens.
                await connection.invalidate()

    async def connect(self) -> AsyncConnection:
        """A connection for as long as the caller needs it, who closes it. Raises DatabaseAwayError."""
        connection = self._engine.connect()
        try:
            with connections_waited_for.track_inprogress():
                await connection.start()
        except Exception as error:
            if self.dialect_name == "postgresql" and (reason := postgres.connect_reason(error)):
                raise DatabaseAwayError(reason) from error
            raise
        return connection

    async def until_reachable(self) -> None:
        """Waits for PostgreSQL, with a line in the log each 10 s; raises WrongSettingsError if it refuses for good."""
        seconds = 0.0
        while self.dialect_name == "postgresql":
            try:
                if await self._hears():
                    return
                raise WrongSettingsError(f"{self._shown()}: {postgres.POOLER}")
            except (DatabaseAwayError, DBAPIError) as error:
                if reason := postgres.refused_reason(error):
                    raise WrongSettingsError(f"{self._shown()}: {reason}") from error
                if not isinstance(error, DatabaseAwayError):
                    raise
                if seconds % WAIT_LOG_SECONDS == 0:
                    log.warning("waiting for the database", extra={"database": self._shown(), "error": str(error)})
            await asyncio.sleep(WAIT_SECONDS)
            seconds += WAIT_SECONDS

    async def watch(self, tell: Callable[[bool], None]) -> None:
        """Tells once a second whether PostgreSQL answers, on a connection of its own; of SQLite nothing."""
        if self.dialect_name != "postgresql":
            return
        engine = postgres.create_engine(self._engine.url, replace(self._options, connections=1))
        try:
            while True:
                tell(await postgres.answers(engine, LOOK_LIMIT_SECONDS))
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await engine.dispose()

    async def close(self) -> None:
        """Closes all connections, after the work that was started has ended."""
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._engine.dispose()

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[AsyncConnection]:
        connection = await self.connect()
        try:
            with connections_in_use.track_inprogress():
                yield connection
        except DBAPIError as error:
            if self.dialect_name == "postgresql" and (reason := postgres.away_reason(error)):
                raise DatabaseAwayError(reason) from error
            raise
        finally:
            # As SQLAlchemy's own: a cancellation must not keep the connection from the pool.
            await asyncio.shield(asyncio.ensure_future(connection.close()))

    async def _hears(self) -> bool:
        """True if a notification arrives, as it does unless a pooler changes connections between transactions."""
        heard, channel = asyncio.Event(), f"wavepool_start_{secrets.token_hex(8)}"
        async with self.listening(channel, lambda _: heard.set()):
            async with self.unfenced() as connection:
                await connection.execute(text("SELECT pg_notify(:channel, '')"), {"channel": channel})
            with suppress(TimeoutError):
                async with asyncio.timeout(HEAR_SECONDS):
                    await heard.wait()
        return heard.is_set()

    def _shown(self) -> str:
        return self._engine.url.render_as_string()

    async def _check_fence(self, connection: AsyncConnection) -> None:
        if self.fence is not None:
            await self.fence(connection)


def open_database(settings: ServiceSettings, service: str) -> Database:
    """Opens a service's database as its settings say; raises WrongSettingsError."""
    options = DatabaseOptions(
        application=f"wavepool-{service}",
        password_file=settings.database_password_file,
        connections=settings.database_connections,
        statement_timeout=settings.database_statement_timeout,
        lock_timeout=settings.database_lock_timeout,
    )
    return Database(settings.resolved_database_url(service), options)


async def migrate(database: Database, location: str, *, unfinished: bool = False) -> None:
    """Brings the schema up to date with the alembic versions in `location`, such as `services.billing:migrations`.

    Files of versions are named by their revisions, in rising order; the last is the newest.

    A schema that is newer than the last is left as it is if it only has more than what the code here uses: a migration
    that says `EXPANDS = True` leaves the schema usable for the code of the revision before it.

    Waits until the database can be reached. Safe to call at every start and from several processes: an advisory lock on
    PostgreSQL, or the write lock on SQLite, lets one in at a time. Raises UnknownSchemaError, or WrongSettingsError if
    the database refuses this service or a restore of it has not ended, except if `unfinished`; nothing changes then.
    """
    package, folder = location.split(":")
    await database.until_reachable()
    async with database.unfenced() as connection:
        if database.dialect_name == "postgresql":
            # Another process may migrate for minutes, and so may this one.
            await connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
            await connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            await connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('wavepool migrations'))")
        if not unfinished:
            await connection.run_sync(_refuse_unfinished)
        await connection.run_sync(_upgrade, files(package) / folder / "versions")


def known_revisions(versions: Traversable) -> list[str]:
    """The revisions of a folder of alembic versions, oldest first, such as `0024` of `0024_initial.py`."""
    return sorted(file.name.partition("_")[0] for file in versions.iterdir() if file.name.endswith(".py"))


def _refuse_unfinished(connection: Connection) -> None:
    if inspect(connection).has_table(UNFINISHED):
        where = connection.engine.url.render_as_string()
        raise WrongSettingsError(f"{where}: a restore did not end; run `wavepool admin restore` again, with any backup")


def _upgrade(connection: Connection, versions: Traversable) -> None:
    known, noted = known_revisions(versions), revisions_of(connection)
    if noted == known[-1:]:
        return
    for revision in noted:
        if revision not in known:
            url, since = connection.engine.url.render_as_string(), _compatible_since(connection)
            if not since or not since <= known[-1] < revision:
                raise UnknownSchemaError(url, revision, known, since)
            log.warning("the schema is newer, and can be used", extra={"schema": revision, "known": known[-1]})
            return
    # Only here: with what it imports, alembic takes a tenth of a second, and most starts find a schema up to date.
    from alembic import command
    from alembic.script import ScriptDirectory

    with alembic_config(connection, versions) as config:
        command.upgrade(config, "head")
        newest_first = ScriptDirectory.from_config(config).walk_revisions()
        since = next(one.revision for one in newest_first if not getattr(one.module, "EXPANDS", False))
    connection.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {COMPATIBILITY} (compatible_since TEXT NOT NULL)")
    connection.exec_driver_sql(f"DELETE FROM {COMPATIBILITY}")  # noqa: S608 - our own name
    connection.execute(text(f"INSERT INTO {COMPATIBILITY} VALUES (:since)"), {"since": since})  # noqa: S608 - our own name


@contextmanager
def alembic_config(connection: Connection, versions: Traversable) -> Generator[Config]:
    """Alembic's configuration for these versions on an open connection."""
    from alembic.config import Config

    with as_file(versions) as path, as_file(files("servicekit.db") / "migration") as environment:
        config = Config()
        config.set_main_option("script_location", str(environment))
        config.set_main_option("version_locations", str(path))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        yield config


def _compatible_since(connection: Connection) -> str:
    """The revision of the oldest code that can use the schema; empty if the database does not say."""
    if not inspect(connection).has_table(COMPATIBILITY):
        return ""
    return connection.exec_driver_sql(f"SELECT compatible_since FROM {COMPATIBILITY}").scalar_one()  # noqa: S608 - our own name


def revisions_of(connection: Connection) -> list[str]:
    """The revisions that alembic noted in the database; none if it is new."""
    if not inspect(connection).has_table("alembic_version"):
        return []
    return list(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars())


def _create_engine(url: str, options: DatabaseOptions) -> AsyncEngine:
    if not url.startswith("sqlite"):
        try:
            return postgres.create_engine(make_url(url), options)
        except ValueError as error:
            raise WrongSettingsError(f"DATABASE_URL: {error}") from error
    engine = create_async_engine(url)
    event.listen(engine.sync_engine, "do_connect", _connect_sqlite)
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _connect_sqlite(dialect: object, record: object, arguments: list[Any], options: dict[str, Any]) -> None:
    """Makes connections of our own class; the options stay as SQLAlchemy sets them."""
    del dialect, record, arguments
    options["async_creator_fn"] = SqliteConnection


def _prepare_sqlite(connection: Any, record: object) -> None:  # noqa: ANN401 - a DBAPI connection
    del record
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_TIMEOUT_MS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    driver = cast("SqliteConnection", connection.connection.driver_connection)
    driver.runs_here = False
    connection.exec_driver_sql("BEGIN" if "wavepool_reading" in options else "BEGIN IMMEDIATE")
    driver.runs_here = "wavepool_short" in options
