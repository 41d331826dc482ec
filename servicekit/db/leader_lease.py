"""The leader lease: one process at a time writes a database.

The lease is a row of the database, one for each role: the holder, its address, an expire time, and an epoch, which
grows with each take-over. A holder renews the row after every third of its term. A process that finds it expired, by
the database's own clock, takes it with the next epoch, in one compare-and-set.

A holder that was stopped, or could not be reached, does not know that another has taken over. So every writing
transaction first checks that the row still has the holder's epoch (`check`, the fence of `Database.transaction`). On
PostgreSQL the check also locks the row against take-overs, though not against renewals, until the transaction ends;
otherwise a process could be stopped between its check and its commit. Who takes an expired lease and has to wait for
such a transaction ends its connection. The server's own limits do not do: none of PostgreSQL before 17 ends a
transaction whose client was stopped in the middle of a statement.

On SQLite all processes are on one host, and the kernel knows who lives: the holder also has a lock on a file beside
the database. The lock is free as soon as its process has ended, so a restart waits for no term and nothing is renewed
while the database rests. A stopped process keeps the lock, and nobody takes over. The row and the check are there all
the same: a lock file may be deleted, and some network file systems ignore locks.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Executable,
    MetaData,
    Row,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    literal,
    literal_column,
    null,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import new_id
from servicekit.db.database import Database
from servicekit.logging import get_logger
from servicekit.loops import Loop

log = get_logger(__name__)

POLL_SECONDS = 0.2
BLOCKED_SECONDS = 0.5
"""How long a take-over waits for transactions of the process whose lease has expired; most end in milliseconds."""
_NEXT_SECONDS = 0.02
RENEWALS_IN_A_TERM = 3
_MICROSECOND = timedelta(microseconds=1)

LEASE_TABLES = MetaData()
leader_leases = Table(
    "leader_leases",
    LEASE_TABLES,
    Column("role", Text, primary_key=True),
    # Empty if nobody holds it.
    Column("holder", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    # Microseconds since 1970 by the database's clock. Null if a lock on a file stands for it.
    Column("expire_time", BigInteger),
    # As part of a key, the epoch cannot change while a transaction has the row locked FOR KEY SHARE.
    UniqueConstraint("role", "epoch", name="leader_leases_epoch"),
)

# Of those who wait for each other, only the first ones: rivals who want the lease as well wait too. Nobody, if the
# lease was renewed meanwhile.
_END_BLOCKERS = text("""
    WITH RECURSIVE blockers (pid) AS (
        SELECT unnest(pg_blocking_pids(:blocked))
        UNION SELECT unnest(pg_blocking_pids(pid)) FROM blockers
    )
    SELECT pg_terminate_backend(pid) FROM blockers
    WHERE cardinality(pg_blocking_pids(pid)) = 0 AND EXISTS (
        SELECT FROM leader_leases
        WHERE role = :role AND expire_time <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    )
""")
_CLOCK = literal_column("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint", BigInteger)


class _Statements:
    """The statements about one lease. On SQLite a lock on a file takes the place of the clock."""

    def __init__(self, role: str, holder: str, term: timedelta, *, is_sqlite: bool) -> None:
        row = leader_leases.c
        of_role = row.role == literal(role)
        of_epoch = (of_role, row.epoch == bindparam("of_epoch"))
        take = (
            update(leader_leases)
            .where(of_role)
            .values(epoch=row.epoch + 1, holder=holder, address=bindparam("at_address"))
            .returning(row.epoch)
        )
        self.release = update(leader_leases).where(*of_epoch).values(holder="", address="", expire_time=0)
        if is_sqlite:
            is_free = row.holder == ""
            self.take = take.values(expire_time=null())
            self.renew = select(row.epoch).where(*of_epoch)
            self.check = select(row.epoch).where(*of_epoch)
        else:
            is_free = row.expire_time <= _CLOCK
            expire_time = _CLOCK + literal(term // _MICROSECOND, BigInteger)
            self.take = take.where(is_free).values(expire_time=expire_time)
            self.renew = update(leader_leases).where(*of_epoch).values(expire_time=expire_time).returning(row.epoch)
            self.check = select(row.epoch).where(*of_epoch).with_for_update(read=True, key_share=True)
        self.look = select(row.holder, row.address, row.epoch, is_free.label("is_free")).where(of_role)


class DatabaseTakenError(Exception):
    """Another process serves the database."""

    def __init__(self, role: str) -> None:
        super().__init__(
            f"another {role} serves this database already: stop that one, or give this one a database or data "
            "folder of its own"
        )


class LeadershipLostError(Exception):
    """The process does not lead, so it writes nothing."""

    retry_after = timedelta(seconds=1)

    def __init__(self, role: str) -> None:
        super().__init__(f"another {role} has taken over: this one writes nothing more. Try again.")


@dataclass(frozen=True)
class Leader:
    """Who holds a lease: `address` is where it serves, such as `127.0.0.1:50061`."""

    holder: str
    address: str
    epoch: int


class LeaderLease:
    """The lease of `role`, for this process; from now on the database takes no write of it unless it holds the lease.

    The database must have the table (`servicekit.db.migration.leader_leases`). `term` is how long a lease lasts that is
    not renewed.
    """

    def __init__(self, database: Database, role: str, term: timedelta) -> None:
        self._database = database
        self._role = role
        self._term = term
        self.address = ""
        """Where the others reach this process once it leads; set it before the lease is taken."""
        holder = new_id(f"{socket.gethostname()}:{os.getpid()}")
        is_sqlite = database.dialect_name == "sqlite"
        self._statements = _Statements(role, holder, term, is_sqlite=is_sqlite)
        self._lock = _FileLock(Path(f"{database.engine.url.database}.lock")) if is_sqlite else None
        self._connection: AsyncConnection | None = None
        self._epoch: int | None = None
        self._sure_until = 0.0
        self._looked = asyncio.Event()
        self._renewed = asyncio.Event()
        self._lost = asyncio.Event()
        self._leader: Leader | None = None
        database.fence = self.check

    @property
    def leads(self) -> bool:
        """True if this process holds the lease, as far as it knows."""
        return self._epoch is not None

    @property
    def is_lost(self) -> bool:
        """True if this process led and has been told that another has taken over."""
        return self._lost.is_set()

    @property
    def epoch(self) -> int | None:
        """The epoch in which this process leads; None if it does not."""
        return self._epoch

    @property
    def leader(self) -> Leader | None:
        """The other process that led when this one last looked; None if none did."""
        return self._leader

    @property
    def is_sure(self) -> bool:
        """True if no other process can have taken over: the term since the last renewal is not over yet."""
        return self.leads and not self._lost.is_set() and (self._lock is not None or _now() < self._sure_until)

    async def known(self) -> None:
        """Waits until this process has looked who leads for the first time."""
        await self._looked.wait()

    async def try_take(self) -> bool:
        """Takes the lease if nobody holds it; otherwise notes who does."""
        is_taken = await self._try_take()
        self._looked.set()
        return is_taken

    async def taken(self) -> None:
        """Waits until this process has the lease, however long that takes."""
        if self.leads:
            return
        while True:
            try:
                if await self.try_take():
                    return
            except (DBAPIError, OSError) as error:
                log.warning("the database does not say who leads", extra={"error": str(error)})
            await asyncio.sleep(POLL_SECONDS)

    async def take(
        self,
        timeout: timedelta | None,  # noqa: ASYNC109 - it becomes an error of its own
        spare: AbstractContextManager[None] | None = None,
    ) -> None:
        """Takes the lease; raises DatabaseTakenError if another process still holds it after `timeout`.

        Without a timeout it waits for ever. `spare` is entered while it waits.
        """
        if await self.try_take():
            return
        log.warning("waiting for another process that serves this database to end")
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                with spare or nullcontext():
                    await self.taken()
        except TimeoutError:
            raise DatabaseTakenError(self._role) from None

    @asynccontextmanager
    async def held(
        self,
        timeout: timedelta | None,  # noqa: ASYNC109 - as of `take`
        spare: AbstractContextManager[None] | None = None,
    ) -> AsyncGenerator[None]:
        """Takes the lease as `take` does, and gives it back at the end."""
        try:
            await self.take(timeout, spare)
            yield
        finally:
            await self.release()

    async def lead(self, *work: Coroutine[Any, Any, object]) -> None:
        """Runs `work` while this process leads: until any of it ends, or at most until another has taken over.

        Waits for the lease first if need be. Raises LeadershipLostError, or the error with which `work` ended.
        """
        tasks: list[asyncio.Task[object]] = []
        try:
            await self.taken()
            tasks = [asyncio.ensure_future(each) for each in (self.keep(), *work)]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for each in work:
                each.close()

    async def keep(self) -> None:
        """Renews the lease for ever; raises LeadershipLostError once another process has it."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._term.total_seconds() / RENEWALS_IN_A_TERM):
                    await self._lost.wait()
            await self.renew()

    async def renew(self) -> None:
        """Renews the lease; raises LeadershipLostError if another process has taken it.

        If the database does not answer, that is logged, and the term may pass. If nobody has taken over by the time it
        answers again, the lease is still ours.
        """
        if self._epoch is None or self._lost.is_set():
            raise LeadershipLostError(self._role)
        asked, seconds = _now(), self._term.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                row = await self._execute(self._statements.renew, of_epoch=self._epoch)
        except (DBAPIError, OSError, TimeoutError) as error:
            log.warning("the leader lease cannot be renewed until the database answers", extra={"error": str(error)})
            return
        if row is None:
            raise self._loss()
        self._sure_until = asked + seconds
        self._renewed.set()

    async def sure(self) -> None:
        """Waits until no other process can have taken over; for ever if one has."""
        while not self.is_sure:
            self._renewed.clear()
            await self._renewed.wait()

    async def check(self, connection: AsyncConnection) -> None:
        """Keeps take-overs out until the transaction ends; raises LeadershipLostError if there was one already."""
        if self._epoch is None:
            raise LeadershipLostError(self._role)
        if (await connection.execute(self._statements.check, {"of_epoch": self._epoch})).first() is None:
            raise self._loss()

    async def release(self) -> None:
        """Gives the lease back, if this process has it, so that the next one need not wait for the end of the term."""
        epoch, self._epoch = self._epoch, None
        try:
            if epoch is not None and not self._lost.is_set():
                await self._execute(self._statements.release, of_epoch=epoch)
        except (DBAPIError, OSError) as error:
            log.warning("the leader lease could not be given back; it expires", extra={"error": str(error)})
        finally:
            await self._disconnect()
            if self._lock is not None:
                self._lock.end()

    async def _try_take(self) -> bool:
        # On PostgreSQL, looking first spares the row a lock at each try.
        is_free = self._lock.take() if self._lock else await self._look()
        if not is_free:
            if self._lock:
                await self._look()
            return False
        asked = _now()
        row = await self._taken_row()
        if row is None:
            return False
        self._epoch, self._sure_until, self._leader = row.epoch, asked + self._term.total_seconds(), None
        log.info("this process leads", extra={"role": self._role, "epoch": row.epoch})
        return True

    async def _taken_row(self) -> Row[Any] | None:
        """Executes the take-over, and ends the connections of those that hold it up on PostgreSQL."""
        taking = asyncio.ensure_future(self._execute(self._statements.take, at_address=self.address))
        pause = BLOCKED_SECONDS
        try:
            while not self._lock and not (await asyncio.wait((taking,), timeout=pause))[0]:
                # The next transaction of the same process shows only when this one has ended.
                pause = _NEXT_SECONDS if await self._end_blockers() else BLOCKED_SECONDS
            return await taking
        finally:
            taking.cancel()
            await asyncio.gather(taking, return_exceptions=True)

    async def _end_blockers(self) -> bool:
        """Ends who holds up the take-over; True if there was somebody."""
        if self._connection is None:
            return False
        try:
            driver: Any = (await self._connection.get_raw_connection()).driver_connection
            async with self._database.unfenced() as connection:
                parameters = {"blocked": driver.get_server_pid(), "role": self._role}
                count = len((await connection.execute(_END_BLOCKERS, parameters)).all())
        except (SQLAlchemyError, OSError) as error:
            log.warning("connections that hold up a take-over cannot be ended", extra={"error": str(error)})
            return False
        if count:
            log.warning("ended connections that held up the take-over of an expired lease", extra={"count": count})
        return count > 0

    async def _look(self) -> bool:
        """Notes who leads; True if the lease is free."""
        row = await self._execute(self._statements.look)
        self._leader = None if row is None or row.is_free else Leader(row.holder, row.address, row.epoch)
        return row is not None and row.is_free

    def _loss(self) -> LeadershipLostError:
        if not self._lost.is_set():
            self._lost.set()
            log.error(
                "another process has taken over: this one writes nothing more",
                extra={"role": self._role, "epoch": self._epoch},
            )
        return LeadershipLostError(self._role)

    async def _execute(self, statement: Executable, **parameters: object) -> Row[Any] | None:
        """Executes one statement as a transaction of its own; gives its first row, if it has any.

        PostgreSQL has a connection for it, since a renewal must not wait until another one is free.
        """
        if self._lock is not None:
            transaction = self._database.reading if statement.is_select else self._database.unfenced
            async with transaction() as connection:
                return _first(await connection.execute(statement, parameters))
        try:
            connection = await self._connected()
            return _first(await connection.execute(statement, parameters))
        except BaseException:
            await self._disconnect()
            raise

    async def _connected(self) -> AsyncConnection:
        if self._connection is None:
            self._connection = await self._database.connect()
            await self._connection.execution_options(isolation_level="AUTOCOMMIT")
        return self._connection

    async def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(DBAPIError, OSError):
                await connection.invalidate()
            await connection.close()


class WhileSure:
    """Runs passes of a loop only while no other process can have taken over, so that a late one does nothing."""

    def __init__(self, loop: Loop, lease: LeaderLease) -> None:
        self._loop = loop
        self._lease = lease

    @property
    def name(self) -> str:
        """Name in logs and metrics."""
        return self._loop.name

    async def run_once(self) -> None:
        """Waits until the lease is surely ours, and makes a pass."""
        await self._lease.sure()
        await self._loop.run_once()


class _FileLock:
    """A lock on a file, which ends with its process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> bool:
        if self._file is not None:
            return True
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        return True

    def end(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


def _first(result: Any) -> Row[Any] | None:  # noqa: ANN401 - a result of any statement
    return result.first() if result.returns_rows else None


def _now() -> float:
    """Seconds of a clock that goes on while the process is stopped or the computer sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
