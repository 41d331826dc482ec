"""PostgreSQL's own way back to a moment, as docs/operations.md describes it."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Iterator

import asyncpg
import pytest

from tests.needs import needs
from tests.postgres_server import START_SECONDS, PostgresServer, program


@pytest.fixture
@needs("postgres")
def archiving() -> Iterator[PostgresServer]:
    """A server that archives its log."""
    server = PostgresServer()
    server.start()
    server.kill()
    (server.folder / "wal").mkdir()
    server.own(server.folder / "wal")
    wal = server.folder / "wal"
    server.run("archive_mode=on", f"archive_command=test ! -f {wal}/%f && cp %p {wal}/%f")
    yield server
    server.stop()


def asked(server: PostgresServer, statement: str, *values: object) -> object:
    async def ask() -> object:
        connection = await asyncpg.connect(host=str(server.folder), user="wavepool", database="postgres")
        try:
            return await connection.fetchval(statement, *values)
        finally:
            await connection.close()

    return asyncio.run(ask())


def until(server: PostgresServer, statement: str, *values: object) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not asked(server, statement, *values):
        assert time.monotonic() < deadline, (server.folder / "log").read_text()[-2000:]


def test_a_lost_server_comes_back_as_it_was_at_a_time(archiving: PostgresServer) -> None:
    base = archiving.folder / "base"
    command = [program("pg_basebackup") or "pg_basebackup", "--pgdata", base, "--wal-method=fetch"]
    address = ["--host", archiving.folder, "--username", "wavepool", "--checkpoint=fast", "--no-sync"]
    subprocess.run([*command, *address], check=True, capture_output=True, **archiving.as_user)
    asked(archiving, "CREATE TABLE jobs AS SELECT 1 AS id")
    moment = asked(archiving, "SELECT clock_timestamp()::text")
    asked(archiving, "DELETE FROM jobs")
    last = asked(archiving, "SELECT pg_walfile_name(pg_switch_wal())")
    until(archiving, "SELECT last_archived_wal >= $1 FROM pg_stat_archiver", last)
    archiving.kill()

    (base / "recovery.signal").touch()
    archiving.own(base / "recovery.signal")
    archiving.data = base
    restore = f"restore_command=cp {archiving.folder / 'wal'}/%f %p"
    archiving.run(restore, f"recovery_target_time={moment}", "recovery_target_action=promote")
    until(archiving, "SELECT NOT pg_is_in_recovery()")
    assert asked(archiving, "SELECT count(*) FROM jobs") == 1
