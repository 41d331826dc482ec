"""PostgreSQL as it is met in the field: it restarts, hangs, refuses, and changes its password."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sqlalchemy import make_url, text
from sqlalchemy.exc import ProgrammingError

from servicekit.db import database as databases
from servicekit.db.database import Database
from servicekit.db.postgres import DatabaseOptions, is_outage
from servicekit.rpc.errors import failure_of
from servicekit.rpc.health import DATABASE_AWAY, REASON_KEY
from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import ServiceSettings, WrongSettingsError
from servicekit.storage import DatabaseAwayError
from tests.needs import needs
from tests.postgres_server import PostgresServer
from tests.service_token import AllowedCaller, services_alone
from vocabulary.ports import free_port

pytestmark = pytest.mark.postgres
SOON = timedelta(milliseconds=200)
ANSWERS = health_pb2.HealthCheckResponse


@pytest.fixture(scope="module")
@needs("postgres")
def own_server() -> Iterator[PostgresServer]:
    """A server that tests may kill."""
    server = PostgresServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def url(own_server: PostgresServer) -> str:
    if own_server.process is None or own_server.process.poll() is not None:
        own_server.run()
    return own_server.create_database()


@asynccontextmanager
async def opened(url: str, **options: Any) -> AsyncGenerator[Database]:
    database = Database(url, DatabaseOptions(**options))
    try:
        yield database
    finally:
        await database.close()


async def one(database: Database, statement: str = "SELECT 1") -> Any:
    async with database.transaction() as connection:
        return (await connection.execute(text(statement))).scalar()


async def test_a_transaction_on_a_server_that_is_gone_says_so_and_the_next_one_on_a_new_server_works(
    own_server: PostgresServer, url: str
) -> None:
    async with opened(url) as database:
        assert await one(database) == 1
        own_server.kill()
        with pytest.raises(DatabaseAwayError) as caught:
            await one(database)
        assert is_outage(caught.value)
        failure = failure_of(caught.value, {})
        assert failure is not None
        assert (failure.code, failure.retry_after) == (grpc.StatusCode.UNAVAILABLE, timedelta(seconds=5))
        await asyncio.to_thread(own_server.run)
        assert await one(database) == 1


async def test_a_connection_that_breaks_within_a_transaction_is_an_outage(url: str) -> None:
    async with opened(url) as database, opened(url) as other:

        async def broken() -> None:
            async with database.transaction() as connection:
                number = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
                await one(other, f"SELECT pg_terminate_backend({number})")
                await connection.execute(text("SELECT 1"))

        with pytest.raises(DatabaseAwayError):
            await broken()


async def test_a_statement_and_a_lock_that_take_too_long_end_and_a_wrong_statement_is_no_outage(url: str) -> None:
    async with opened(url, statement_timeout=SOON) as database:
        with pytest.raises(DatabaseAwayError, match="statement timeout"):
            await one(database, "SELECT pg_sleep(60)")
        with pytest.raises(ProgrammingError) as caught:
            await one(database, "SELECT nothing_of_this_name")
        assert not is_outage(caught.value)
        assert failure_of(caught.value, {}) is None
    async with opened(url, lock_timeout=SOON) as database, opened(url) as other, other.transaction() as connection:
        await connection.execute(text("SELECT pg_advisory_xact_lock(1)"))
        with pytest.raises(DatabaseAwayError, match="lock timeout"):
            await one(database, "SELECT pg_advisory_xact_lock(1)")


async def test_connections_say_whose_they_are_and_are_no_more_than_allowed(url: str) -> None:
    async with opened(url, application="wavepool-test", connections=3) as database:
        name = await one(database, "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        assert name == "wavepool-test"
        most, now = 0, 0

        async def use() -> None:
            nonlocal most, now
            async with database.transaction() as connection:
                now += 1
                most = max(most, now)
                await connection.execute(text("SELECT pg_sleep(0.01)"))
                now -= 1

        await asyncio.gather(*(use() for _ in range(20)))
        assert most == 3


async def test_health_says_within_seconds_that_the_database_is_away_and_that_it_is_back(
    own_server: PostgresServer, url: str
) -> None:
    async with opened(url) as database:
        server = ServiceServer("test", ServiceSettings(port=0, drain=timedelta(0)), {}, services_alone).on(
            database.watch
        )
        await server.start()
        health = health_pb2_grpc.HealthStub(AllowedCaller(f"127.0.0.1:{server.port}"))

        async def until(status: int) -> str:
            while True:
                call = health.Check(health_pb2.HealthCheckRequest())
                if (await call).status == status:
                    return str(dict(await call.trailing_metadata()).get(REASON_KEY, ""))
                await asyncio.sleep(0.05)

        assert await until(ANSWERS.SERVING) == ""
        # It still takes connections, and answers nothing.
        main = _pid(own_server)
        processes = [main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())]
        for number in processes:
            os.kill(number, signal.SIGSTOP)
        try:
            assert await until(ANSWERS.NOT_SERVING) == DATABASE_AWAY
        finally:
            for number in processes:
                os.kill(number, signal.SIGCONT)
        assert await until(ANSWERS.SERVING) == ""
        own_server.kill()
        assert await until(ANSWERS.NOT_SERVING) == DATABASE_AWAY
        await asyncio.to_thread(own_server.run)
        assert await until(ANSWERS.SERVING) == ""
        await server.stop()


async def test_a_start_waits_for_the_server_and_says_so(
    own_server: PostgresServer, url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "WAIT_SECONDS", 0.01)
    own_server.kill()
    async with opened(url) as database:
        waiting = asyncio.create_task(database.until_reachable())
        while "waiting for the database" not in caplog.text:
            await asyncio.sleep(0.01)
        assert not waiting.done()
        await asyncio.to_thread(own_server.run)
        await waiting


@pytest.fixture
def guarded(own_server: PostgresServer, url: str) -> Iterator[str]:
    """The URL of a server that asks for a password."""
    del url
    rules = own_server.data / "pg_hba.conf"
    before = rules.read_text()
    # The tests' own user stays as it is.
    rules.write_text(f"local all guarded scram-sha-256\nhost all guarded 127.0.0.1/32 scram-sha-256\n{before}")
    _reload(own_server)
    made = own_server.create_database()
    own_server.execute("CREATE ROLE guarded LOGIN PASSWORD 'first'", made)
    yield made.replace("wavepool@", "guarded@")
    rules.write_text(before)
    _reload(own_server)
    own_server.execute("DROP ROLE guarded", made)


async def test_a_password_in_a_file_may_change_while_the_service_runs(
    own_server: PostgresServer, guarded: str, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text("first\n")
    async with opened(guarded, password_file=file) as database:
        await database.until_reachable()
        change = "ALTER ROLE guarded PASSWORD 'second'"
        await asyncio.to_thread(own_server.execute, change, guarded.replace("guarded@", "wavepool@"))
        file.write_text("second\n")
        # The connections of before are gone, as after a restart of the server.
        await database.engine.dispose()
        assert await one(database) == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda url: url.replace("guarded@", "guarded:wrong@"), "password authentication failed"),
        (lambda url: url.replace("guarded@/", "wavepool@/no_"), "does not exist"),
        (lambda url: url.replace("guarded@", "unknown@"), "does not exist"),
    ],
)
def test_a_service_that_the_server_refuses_ends_at_once_with_one_line_without_the_password(
    guarded: str, changed: Callable[[str], str], said: str, tmp_path: Path
) -> None:
    ended = _billing(changed(guarded), tmp_path)
    (line,) = ended.stderr.splitlines()
    assert (ended.returncode, said in line, "wrong" in line) == (os.EX_CONFIG, True, False), line


def _billing(url: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "BILLING_DATABASE_URL": url,
        "BILLING_PORT": "0",
        "BILLING_DATA_DIR": str(folder),
        **settings,
    }
    command = [sys.executable, "-m", "services.billing"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


async def test_tls_is_checked_against_the_authority_and_the_name(own_server: PostgresServer, url: str) -> None:
    folder = own_server.data
    file = folder / "localhost.pem"
    file.write_bytes(_certificate_of("localhost"))
    file.chmod(0o600)
    own_server.own(file)
    own_server.kill()
    port = free_port()
    await asyncio.to_thread(
        own_server.run,
        *("ssl=on", f"ssl_cert_file={file}", f"ssl_key_file={file}"),
        host="127.0.0.1",
        port=port,
    )
    name = make_url(url).database
    address = f"postgresql+asyncpg://wavepool@localhost:{port}/{name}?sslmode=verify-full"
    try:
        async with opened(f"{address}&sslrootcert={file}") as database:
            await database.until_reachable()
            assert await one(database, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()") is True
        async with opened(address) as database:
            with pytest.raises(WrongSettingsError, match="certificate verify failed"):
                await database.until_reachable()
    finally:
        own_server.kill()
        await asyncio.to_thread(own_server.run)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("sslrootcert=/nowhere", "sslmode=verify-full"),
        ("sslmode=require&sslrootcert=/nowhere", "is not looked at"),
        ("sslmode=verify-full&sslrootcert=/nowhere", "/nowhere: No such file"),
    ],
)
def test_parameters_for_tls_that_would_do_nothing_are_refused(query: str, said: str) -> None:
    with pytest.raises(WrongSettingsError, match=said):
        Database(f"postgresql+asyncpg://wavepool@127.0.0.1/wavepool?{query}")


@pytest.mark.pgbouncer
@pytest.mark.parametrize("ignored", ["", "statement_timeout,lock_timeout"])
async def test_a_pooler_that_shares_connections_between_transactions_is_refused(
    own_server: PostgresServer, url: str, ignored: str
) -> None:
    parts = make_url(url)
    with _pgbouncer(own_server, "transaction", ignored) as port:
        async with opened(f"postgresql+asyncpg://wavepool@127.0.0.1:{port}/{parts.database}") as database:
            with pytest.raises(WrongSettingsError, match="PgBouncer in transaction mode"):
                await database.until_reachable()


@pytest.mark.pgbouncer
async def test_a_pooler_in_session_mode_is_taken(own_server: PostgresServer, url: str) -> None:
    parts = make_url(url)
    with _pgbouncer(own_server, "session", "statement_timeout,lock_timeout") as port:
        async with opened(f"postgresql+asyncpg://wavepool@127.0.0.1:{port}/{parts.database}") as database:
            await database.until_reachable()
            assert await one(database) == 1


@contextmanager
def _pgbouncer(server: PostgresServer, mode: str, ignored: str) -> Iterator[int]:
    port, folder = free_port(), server.folder
    (folder / "users").write_text('"wavepool" ""\n')
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={server.folder}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
        f"auth_type = trust\nauth_file = {folder}/users\npool_mode = {mode}\nunix_socket_dir =\n"
        f"ignore_startup_parameters = {ignored}\n"
    )
    process = subprocess.Popen(["pgbouncer", folder / "pgbouncer.ini"], **server.as_user)
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except ConnectionRefusedError:
                assert process.poll() is None
            else:
                break
        yield port
    finally:
        process.terminate()
        process.wait()


def _certificate_of(name: str) -> bytes:
    """A certificate that vouches for itself, with its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return made.public_bytes(encoding) + key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)


def _reload(server: PostgresServer) -> None:
    os.kill(_pid(server), signal.SIGHUP)


def _pid(server: PostgresServer) -> int:
    assert server.process
    return server.process.pid
