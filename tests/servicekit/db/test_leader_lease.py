"""Holders of a database's leader lease, on SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, Table, UniqueConstraint, insert, select, text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import new_id
from servicekit.db import leader_lease
from servicekit.db.database import Database, migrate
from servicekit.db.group_commit import GroupCommit
from servicekit.db.leader_lease import (
    POLL_SECONDS,
    DatabaseTakenError,
    LeaderLease,
    LeadershipLostError,
    WhileSure,
    leader_leases,
)
from servicekit.settings.config import LEADER_TERM
from servicekit.storage import DatabaseAwayError
from tests.servicekit.db.leases import ROLE, expire, note, noted, notes, notes_of, opened, prepare

AT_ONCE = timedelta(0)
LONG = timedelta(seconds=60)
SHORT = timedelta(seconds=3)
ON_POSTGRES = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
# PostgreSQL's message Parse, without the Sync that has to follow: so the server waits in the middle of a statement.
PARSE_AND_NO_SYNC = b"P\0\0\0\x10\0SELECT 1\0\0\0"
WAITERS = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
END_LEASES_CONNECTIONS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid() AND query LIKE '%leader_leases%'"
)


@pytest.fixture
async def url(database_url: str) -> str:
    await prepare(database_url)
    return database_url


@asynccontextmanager
async def candidate(url: str, term: timedelta = LONG, role: str = ROLE) -> AsyncGenerator[tuple[LeaderLease, Database]]:
    """A process that may lead; it gives the lease back at the end."""
    async with opened(url) as database:
        lease = LeaderLease(database, role, term)
        try:
            yield lease, database
        finally:
            await lease.release()


@asynccontextmanager
async def leading(url: str, term: timedelta = LONG) -> AsyncGenerator[tuple[LeaderLease, Database]]:
    async with candidate(url, term) as (lease, database):
        await lease.take(AT_ONCE)
        yield lease, database


async def test_a_second_process_is_refused_and_reads_what_to_do(url: str) -> None:
    async with leading(url) as (lease, _), candidate(url) as (second, _):
        with pytest.raises(DatabaseTakenError, match="another vmpool serves this database already: stop that one"):
            await second.take(AT_ONCE)
        await lease.renew()
        assert not second.leads


async def test_a_process_that_stops_hands_over_at_once_however_long_its_term(url: str) -> None:
    async with candidate(url) as (second, database):
        async with leading(url, timedelta(days=1)) as (lease, _):
            lease.address = "127.0.0.1:1"
            waiting = asyncio.create_task(second.take(LONG))
            await second.known()
            assert not waiting.done()
        await waiting
        assert second.epoch == 2
        await note(database, second.epoch)
    assert await noted(url) == [2]


async def test_those_who_do_not_lead_know_where_the_leader_is(url: str) -> None:
    async with candidate(url) as (lease, _), candidate(url) as (second, _):
        lease.address = "127.0.0.1:50061"
        assert await lease.try_take()
        assert not await second.try_take()
        assert second.leader is not None
        assert (second.leader.address, second.leader.epoch) == ("127.0.0.1:50061", 1)
        await lease.release()
        assert await second.try_take()
        assert second.leader is None


async def test_a_process_that_does_not_lead_writes_nothing(url: str) -> None:
    async with candidate(url) as (lease, database):
        with pytest.raises(LeadershipLostError):
            await note(database, 0)
        await lease.take(AT_ONCE)
        await note(database, lease.epoch)
        await lease.release()
        with pytest.raises(LeadershipLostError):
            await note(database, 0)
    assert await noted(url) == [1]


async def test_a_group_of_writes_is_checked_once_and_its_loss_of_leadership_reaches_every_one(url: str) -> None:
    checks: list[AsyncConnection] = []

    async def write(connection: AsyncConnection, epochs: Sequence[int]) -> Sequence[int]:
        await connection.execute(insert(notes), [{"epoch": epoch} for epoch in epochs])
        return epochs

    async with candidate(url) as (lease, database):

        async def check(connection: AsyncConnection) -> None:
            checks.append(connection)
            await lease.check(connection)

        async def written() -> list[int | BaseException]:
            checks.clear()
            return await asyncio.gather(*(group.commit(epoch) for epoch in (1, 2, 3)), return_exceptions=True)

        database.fence = check
        group = GroupCommit(database, write, lambda results: None)
        assert [type(answer) for answer in await written()] == [LeadershipLostError] * 3
        assert len(checks) == 1
        await lease.take(AT_ONCE)
        assert (await written(), len(checks)) == ([1, 2, 3], 1)
        await lease.release()
        with pytest.raises(LeadershipLostError):
            async with database.short_transaction() as connection:
                await connection.execute(insert(notes).values(epoch=4))
    assert await noted(url) == [1, 2, 3]


async def test_after_a_take_over_the_old_leaders_write_raises_and_ends_all_its_work(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with leading(url, timedelta(days=1)) as (old, database):
        task = asyncio.create_task(old.lead(work()))
        await expire(url)
        async with another_host(url) as new:
            assert new.epoch == 2
            with pytest.raises(LeadershipLostError):
                await note(database, old.epoch)
            # The term is a day: it is the write that ends the work.
            with pytest.raises(LeadershipLostError, match="another vmpool has taken over"):
                await asyncio.wait_for(task, 60)
            assert ended.is_set()
            assert (old.is_lost, old.is_sure) == (True, False)
        assert "another process has taken over: this one writes nothing more" in caplog.text
    assert await noted(url) == []


async def test_a_leader_that_writes_nothing_notices_a_take_over_when_it_renews(url: str) -> None:
    async with leading(url, timedelta(seconds=0.3)) as (old, _):
        await expire(url)
        async with another_host(url):
            with pytest.raises(LeadershipLostError):
                await asyncio.wait_for(old.keep(), 60)


@asynccontextmanager
async def another_host(url: str) -> AsyncGenerator[LeaderLease]:
    """A leader that the lock on SQLite's file does not stop, as if somebody had deleted the file."""
    lose_lock_file(url)
    async with leading(url) as (lease, _):
        yield lease


def lose_lock_file(url: str) -> None:
    Path(f"{make_url(url).database}.lock").unlink(missing_ok=True)


@pytest.mark.parametrize("role", ["scheduler", "vmpool"])
async def test_each_services_database_has_the_table_with_a_free_lease_and_the_key_that_fences(
    database_url: str, role: str
) -> None:
    async with opened(database_url) as database:
        await migrate(database, f"services.{role}:migrations")
        async with database.unfenced() as connection:
            made = await connection.run_sync(lambda sync: Table("leader_leases", MetaData(), autoload_with=sync))
            row = (await connection.execute(select(leader_leases))).one()
        assert [(column.name, column.nullable, column.primary_key) for column in made.columns] == [
            (column.name, column.nullable, column.primary_key) for column in leader_leases.columns
        ]
        keys = {tuple(each.columns.keys()) for each in made.constraints if isinstance(each, UniqueConstraint)}
        assert keys == {("role", "epoch")}
        assert tuple(row) == (role, "", "", 0, 0)


async def test_work_that_ends_with_an_error_ends_leading_with_it(url: str) -> None:
    async def fail() -> None:
        raise RuntimeError("of the work")

    async with leading(url) as (lease, _):
        with pytest.raises(RuntimeError, match="of the work"):
            await lease.lead(fail(), asyncio.Event().wait())


class Passes:
    name = "passes"

    def __init__(self) -> None:
        self.made = asyncio.Event()

    async def run_once(self) -> None:
        self.made.set()


@ON_POSTGRES
async def test_after_the_term_a_leader_makes_no_pass_of_a_loop_until_the_database_has_confirmed_its_epoch(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with leading(url) as (lease, database):
        now = leader_lease._now
        monkeypatch.setattr(leader_lease, "_now", lambda: now() + LONG.total_seconds())
        assert not lease.is_sure
        passes = Passes()
        loop = asyncio.create_task(WhileSure(passes, lease).run_once())
        # The database has seen this write, but the process cannot know for how long its answer holds.
        await note(database, lease.epoch)
        assert not passes.made.is_set()
        await lease.renew()
        await asyncio.wait_for(loop, 60)
        assert passes.made.is_set()


@ON_POSTGRES
async def test_a_lease_outlives_its_connection(url: str) -> None:
    async with leading(url) as (lease, _), opened(url) as other:
        async with other.unfenced() as connection:
            assert (await connection.execute(END_LEASES_CONNECTIONS)).scalars().all() == [True]
        # The first try finds the connection broken, and the next one makes another.
        await lease.renew()
        await lease.renew()
        async with candidate(url) as (second, _):
            assert not await second.try_take()


@ON_POSTGRES
async def test_the_term_is_measured_by_the_databases_clock_alone(url: str) -> None:
    async with leading(url), candidate(url) as (second, _):
        with time_machine.travel("2100-01-01"):
            assert not await second.try_take()


@ON_POSTGRES
async def test_a_take_over_waits_for_the_old_leaders_transaction_and_a_renewal_does_not(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_lease, "BLOCKED_SECONDS", LONG.total_seconds())
    async with leading(url) as (old, database), candidate(url) as (new, _):
        async with database.transaction() as connection:
            await connection.execute(text("INSERT INTO notes VALUES (1)"))
            await asyncio.wait_for(old.renew(), 60)
            await expire(url)
            taking = asyncio.create_task(new.take(LONG))
            await someone_waits(url)
            assert not taking.done()
        await taking
        assert (await noted(url), new.epoch) == ([1], 2)


@ON_POSTGRES
async def test_a_take_over_ends_a_transaction_whose_process_was_stopped_in_the_middle_of_a_statement(url: str) -> None:
    async with leading(url) as (_, database), candidate(url) as (new, _):

        async def stopped() -> None:
            async with database.transaction() as connection:
                await connection.execute(text("INSERT INTO notes VALUES (1)"))
                driver: Any = (await connection.get_raw_connection()).driver_connection
                driver._transport.write(PARSE_AND_NO_SYNC)
                await expire(url)
                await new.take(LONG)

        with pytest.raises(DatabaseAwayError):
            await stopped()
        assert (await noted(url), new.epoch) == ([], 2)


@ON_POSTGRES
async def test_a_take_over_ends_all_transactions_of_a_stopped_process_at_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leader_lease, "BLOCKED_SECONDS", 1.5)
    # Much longer than it waits for the first of them, and shorter than if it waited so long for each.
    term = timedelta(seconds=7)
    async with leading(url) as (_, database), candidate(url, term) as (new, _), AsyncExitStack() as stack:
        for _ in range(8):
            stack.push_async_exit(suppressing_breaks)
            await stack.enter_async_context(database.transaction())
        await expire(url)
        await new.take(LONG)
        was_in_time = new.is_sure
        # It suppresses whatever is raised before, as the ends of broken transactions take its place.
        await stack.aclose()
        assert was_in_time


async def suppressing_breaks(kind: type[BaseException] | None, *_: object) -> bool:
    return kind is not None and issubclass(kind, DatabaseAwayError)


@ON_POSTGRES
async def test_a_leader_that_renewed_meanwhile_keeps_its_transaction(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with leading(url) as (old, database), candidate(url) as (new, _):
        async with database.transaction() as connection:
            await connection.execute(text("INSERT INTO notes VALUES (1)"))
            await expire(url)
            monkeypatch.setattr(leader_lease, "BLOCKED_SECONDS", LONG.total_seconds())
            taking = asyncio.create_task(new.try_take())
            await someone_waits(url)
            await old.renew()
            assert not await new._end_blockers()
        assert not await taking
        assert (await noted(url), old.epoch) == ([1], 1)


async def someone_waits(url: str) -> None:
    async with opened(url) as database, asyncio.timeout(60):
        while True:
            async with database.reading() as connection:
                if (await connection.execute(WAITERS)).scalar_one():
                    return


@ON_POSTGRES
async def test_of_many_candidates_one_leads(url: str) -> None:
    async with candidate(url) as (first, _):
        others = [candidate(url) for _ in range(7)]
        candidates = [first, *[(await other.__aenter__())[0] for other in others]]
        for epoch in (1, 2, 3):
            await expire(url)
            taken = await asyncio.gather(*[lease.try_take() for lease in candidates])
            assert sum(taken) == 1
            assert [lease.epoch for lease, is_taken in zip(candidates, taken, strict=True) if is_taken] == [epoch]
        for other in others:
            await other.__aexit__(None, None, None)


STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["take", "renew", "write", "release", "expire"])))


class Model:
    """What three candidates for one lease must find."""

    def __init__(self) -> None:
        self.epochs = 0
        self.epoch_of: dict[int, int] = {}
        self.is_free = True

    def leads(self, who: int) -> bool:
        return self.epoch_of.get(who) == self.epochs > 0


@given(STEPS)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
async def test_no_epoch_has_two_holders_and_only_the_last_one_writes(
    database_url: str, steps: list[tuple[int, str]]
) -> None:
    """Each example has a role of its own, so that all share a database."""
    role, model = new_id("role"), Model()
    await prepare(database_url, role)
    async with (
        candidate(database_url, role=role) as first,
        candidate(database_url, role=role) as second,
        candidate(database_url, role=role) as third,
    ):
        for who, step in steps:
            await (
                expire_lease(database_url, role, model)
                if step == "expire"
                else take_step(step, who, (first, second, third)[who], model)
            )


async def expire_lease(url: str, role: str, model: Model) -> None:
    await expire(url, role)
    lose_lock_file(url)
    model.is_free = True


async def take_step(step: str, who: int, candidate: tuple[LeaderLease, Database], model: Model) -> None:
    lease, database = candidate
    if step == "take" and not (lease.leads or lease.is_lost):
        assert await lease.try_take() is model.is_free
        if model.is_free:
            model.epochs, model.is_free = model.epochs + 1, False
            model.epoch_of[who] = model.epochs
        assert lease.epoch == model.epoch_of.get(who)
    elif step == "release":
        model.is_free |= model.leads(who)
        model.epoch_of.pop(who, None)
        await lease.release()
    elif step in {"renew", "write"}:
        work = lease.renew() if step == "renew" else note(database, model.epochs)
        if model.leads(who):
            await work
            # On SQLite, who lost the lock's file does not get it back.
            model.is_free &= step == "write" or database.dialect_name == "sqlite"
        else:
            with pytest.raises(LeadershipLostError):
                await work


async def started(url: str, term: timedelta, *way: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.servicekit.db.lease_process", url, str(term.total_seconds()), *way),
        stdout=asyncio.subprocess.PIPE,
        stdin=asyncio.subprocess.PIPE,
    )


async def line_of(process: Process) -> str:
    assert process.stdout
    return (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()


@asynccontextmanager
async def processes() -> AsyncGenerator[list[Process]]:
    """Kills what is in the list at the end."""
    running: list[Process] = []
    try:
        yield running
    finally:
        for process in running:
            if process.returncode is None:
                process.kill()
            await process.communicate()


def test_the_usual_term_lets_another_lead_in_five_seconds() -> None:
    """On a machine that has time: how long that takes on a busy one is no matter of the lease."""
    assert LEADER_TERM + timedelta(seconds=2 * POLL_SECONDS) < timedelta(seconds=5)


async def test_after_sigkill_of_the_leader_another_leads(url: str) -> None:
    async with processes() as running:
        running.append(await started(url, SHORT))
        assert await line_of(running[0]) == "leads 1"
        async with candidate(url, SHORT) as (lease, database):
            assert not await lease.try_take()
            running[0].kill()
            await lease.take(LONG)
            await note(database, lease.epoch)
    assert (await noted(url))[-1] == 2


@ON_POSTGRES
async def test_a_leader_that_was_stopped_writes_nothing_after_another_has_taken_over(url: str) -> None:
    async with processes() as running:
        running.append(await started(url, SHORT))
        assert await line_of(running[0]) == "leads 1"
        while not await notes_of(url, 1):
            pass
        async with candidate(url, SHORT) as (lease, database):
            running[0].send_signal(signal.SIGSTOP)
            await lease.take(LONG)
            written = await notes_of(url, 1)
            running[0].send_signal(signal.SIGCONT)
            assert (await line_of(running[0])).startswith("lost another vmpool has taken over")
            await note(database, lease.epoch)
            assert await notes_of(url, 1) == written


@ON_POSTGRES
async def test_a_leader_that_is_stopped_within_a_transaction_neither_commits_nor_keeps_others_waiting(url: str) -> None:
    async with processes() as running:
        running.append(await started(url, SHORT, "held"))
        assert [await line_of(running[0]), await line_of(running[0])] == ["leads 1", "open"]
        running[0].send_signal(signal.SIGSTOP)
        async with candidate(url, SHORT) as (lease, _):
            await lease.take(LONG)
            running[0].send_signal(signal.SIGCONT)
            assert running[0].stdin
            running[0].stdin.write(b"\n")
            assert (await line_of(running[0])).startswith("lost another vmpool has taken over")
        assert await noted(url) == []


async def test_a_stopped_process_keeps_an_sqlite_database(url: str) -> None:
    if not url.startswith("sqlite"):
        return
    async with processes() as running:
        running.append(await started(url, timedelta(milliseconds=300)))
        assert await line_of(running[0]) == "leads 1"
        running[0].send_signal(signal.SIGSTOP)
        async with candidate(url) as (lease, _):
            with pytest.raises(DatabaseTakenError):
                await lease.take(timedelta(seconds=0.5))
            running[0].kill()
            await lease.take(LONG)
            assert lease.epoch == 2
