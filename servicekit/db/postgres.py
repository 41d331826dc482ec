"""PostgreSQL as an engine: its address, a password that may change, limits, and what its errors say of an outage."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import URL, event, text
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from servicekit.storage import says_full, with_causes

CONNECT_SECONDS = 10.0
POOL_SECONDS = 30.0
"""How long a transaction waits for a free connection."""
_VERIFIED = "verify-full"
# PostgreSQL's documentation, Appendix A: connections, missing resources, operators' interventions, locks.
_AWAY_CLASSES, _LOCK_NOT_AVAILABLE = ("08", "53", "57"), "55P03"
_REFUSED_CLASSES, _NO_DATABASE, _NO_PRIVILEGE = ("28",), "3D000", "42501"
_NO_STATEMENT = "26000"
POOLER = (
    "it answers as a pooler does that shares connections between transactions, such as PgBouncer in transaction mode; "
    "notifications (LISTEN) need a connection of their own, so name PostgreSQL itself, or a pool in session mode"
)


@dataclass(frozen=True, kw_only=True)
class DatabaseOptions:
    """How to use PostgreSQL; SQLite has none of it."""

    application: str = "wavepool"
    """What PostgreSQL calls the connections (`pg_stat_activity.application_name`)."""
    password_file: Path | None = None
    """Read at each new connection, so that a password may change without a restart; None: the URL's password."""
    connections: int = 12
    """Most connections of this process at a time, besides the one that watches and the one of a leader lease."""
    statement_timeout: timedelta = timedelta(seconds=30)
    lock_timeout: timedelta = timedelta(seconds=10)


def create_engine(url: URL, options: DatabaseOptions) -> AsyncEngine:
    """Creates the engine; raises ValueError if the URL's parameters for TLS are wrong."""
    address, tls = _tls_of(url)
    settings = {
        "application_name": options.application,
        "statement_timeout": _milliseconds(options.statement_timeout),
        "lock_timeout": _milliseconds(options.lock_timeout),
    }
    kept = (options.connections + 1) // 2
    engine = create_async_engine(
        address,
        pool_size=kept,
        max_overflow=options.connections - kept,
        pool_timeout=POOL_SECONDS,
        pool_pre_ping=True,
        connect_args={"timeout": CONNECT_SECONDS, "server_settings": settings, **tls},
    )
    if file := options.password_file:

        def read_password(_dialect: Any, _record: Any, _arguments: Any, parameters: dict[str, Any]) -> None:  # noqa: ANN401 - SQLAlchemy's own
            parameters["password"] = file.read_text("utf-8").strip()

        event.listen(engine.sync_engine, "do_connect", read_password)
    return engine


def away_reason(error: BaseException) -> str:
    """What an error of a transaction says of an outage of the database; empty if it is the statement's own, or ours."""
    if isinstance(error, PoolTimeoutError):
        return f"no connection became free within {POOL_SECONDS:g} s"
    if not isinstance(error, DBAPIError) or says_full(error):
        return ""
    state = _state_of(error)
    is_away = state.startswith(_AWAY_CLASSES) or state == _LOCK_NOT_AVAILABLE or error.connection_invalidated
    return _sentence(error) if is_away else ""


def connect_reason(error: BaseException) -> str:
    """The same of an error while connecting; then the network's own errors count too."""
    is_ours = isinstance(error, (OSError, TimeoutError, *_driver_errors()))
    return _sentence(error) if is_ours else away_reason(error)


def refused_reason(error: BaseException) -> str:
    """Why no later try to connect can go well with these settings; empty if one may."""
    state = _state_of(error)
    if (state.startswith("08") and "startup parameter" in str(error)) or state == _NO_STATEMENT:
        return POOLER
    refuses = state.startswith(_REFUSED_CLASSES) or state in {_NO_DATABASE, _NO_PRIVILEGE}
    is_certificate = any(isinstance(one, ssl.SSLCertVerificationError) for one in with_causes(error))
    return _sentence(error) if refuses or is_certificate else ""


async def answers(engine: AsyncEngine, seconds: float) -> bool:
    """True if the database answers a statement within this time."""
    try:
        async with asyncio.timeout(seconds), engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    except (SQLAlchemyError, OSError, TimeoutError, *_driver_errors()):
        return False
    return True


def is_outage(error: BaseException) -> bool:
    """True if the error is the database's own and not that of a statement: it is full, locked or out of reach."""
    return isinstance(error, OperationalError | InterfaceError | OSError)


def _driver_errors() -> tuple[type[Exception], ...]:
    """What the driver raises itself while it connects; loaded here, as with SQLite nothing needs it."""
    import asyncpg  # noqa: PLC0415 - see above

    return asyncpg.PostgresError, asyncpg.InterfaceError


def _state_of(error: BaseException) -> str:
    """PostgreSQL's code of an error, of five characters; empty for others."""
    return next((state for one in _origins(error) if (state := getattr(one, "sqlstate", None))), "")


def _sentence(error: BaseException) -> str:
    """The database's own words in one line, without the statement and its values."""
    origin = list(_origins(error))[-1]
    words = " ".join(str(origin).split()).partition("> ")
    return words[2] or words[0] or type(origin).__name__


def _origins(error: BaseException) -> Iterator[BaseException]:
    for one in with_causes(error):
        yield one
        if isinstance(one, DBAPIError) and one.orig is not None:
            yield one.orig


def _tls_of(url: URL) -> tuple[URL, dict[str, Any]]:
    """Takes libpq's `sslmode` and `sslrootcert`, which the driver knows only in its own form of an address."""
    query = dict(url.query)
    mode, root = query.pop("sslmode", None), query.pop("sslrootcert", None)
    if mode is None:
        if root is not None:
            raise ValueError("sslrootcert: needs sslmode=verify-full beside it")
        return url, {}
    rest = url.set(query=query)
    if mode != _VERIFIED:
        if root is not None:
            raise ValueError(f"sslrootcert: is not looked at with sslmode={mode}; give sslmode={_VERIFIED}")
        return rest, {"ssl": mode}
    try:
        return rest, {"ssl": ssl.create_default_context(cafile=None if root is None else str(root))}
    except OSError as error:
        raise ValueError(f"sslrootcert: {root}: {error.strerror or error}") from error


def _milliseconds(duration: timedelta) -> str:
    return str(int(duration / timedelta(milliseconds=1)))
