"""A service whose disk is full says so, is not ready, and goes on when there is room."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc

from servicekit.db.database import Database
from servicekit.rpc.errors import FULL_DISK_RETRY, rpc_failure
from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import ServiceSettings
from servicekit.storage import has_room, says_full
from tests.service_token import AllowedCaller, services_alone
from tests.small_disk import SmallDisk, small_disk


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", size_mib=2) as disk:
        yield disk


class Writing(billing_pb2_grpc.BillingServiceServicer):
    """Writes 100 KB for every request."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def GetBalance(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
        del request, context
        async with self._database.transaction() as connection:
            await connection.execute(text("INSERT INTO facts VALUES (zeroblob(100000))"))
        return billing_pb2.GetBalanceResponse()


async def test_a_full_disk_is_unavailable_and_not_ready_until_there_is_room(disk: SmallDisk) -> None:
    settings = ServiceSettings(port=0, data_dir=disk.folder, drain=timedelta(0))
    database = Database(settings.resolved_database_url("test"))
    async with database.transaction() as connection:
        await connection.execute(text("CREATE TABLE facts (fact BLOB)"))
    server = ServiceServer("test", settings, {}, services_alone)
    billing_pb2_grpc.add_BillingServiceServicer_to_server(Writing(database), server.grpc)
    await server.start()
    channel = AllowedCaller(f"127.0.0.1:{server.port}")
    stub, health = billing_pb2_grpc.BillingServiceStub(channel), health_pb2_grpc.HealthStub(channel)
    answers = health_pb2.HealthCheckResponse

    async def health_now() -> int:
        return (await health.Check(health_pb2.HealthCheckRequest())).status

    await stub.GetBalance(billing_pb2.GetBalanceRequest())
    assert await health_now() == answers.SERVING
    disk.fill()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await stub.GetBalance(billing_pb2.GetBalanceRequest())
    failure = rpc_failure(caught.value)
    assert (failure.code, failure.retry_after) == (grpc.StatusCode.UNAVAILABLE, FULL_DISK_RETRY)
    assert "no room left on its disk" in failure.message
    assert await health_now() == answers.NOT_SERVING

    disk.free()
    await stub.GetBalance(billing_pb2.GetBalanceRequest())
    assert await health_now() == answers.SERVING
    async with database.reading() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM facts"))).scalar() == 2
    await channel.close()
    await server.stop()
    await database.close()


def test_room_is_what_can_be_written_and_a_missing_folder_is_no_full_disk(disk: SmallDisk) -> None:
    assert has_room(disk.folder)
    assert not has_room(disk.folder, needed_bytes=3 << 20)
    disk.fill()
    assert not has_room(disk.folder)
    assert has_room(disk.folder / "missing")


class PostgresqlError(Exception):
    """A driver's error; for SQLSTATE see https://www.postgresql.org/docs/current/errcodes-appendix.html."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("could not extend file")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("cause", "is_full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (PermissionError(errno.EACCES, "Permission denied"), False),
        (PostgresqlError("53100"), True),
        (PostgresqlError("40001"), False),
        (ValueError("database or disk is full"), False),
    ],
)
def test_what_says_that_a_disk_is_full_also_says_so_when_it_is_wrapped(cause: Exception, is_full: bool) -> None:
    wrapped = DBAPIError("INSERT", None, cause)
    wrapped.__cause__ = cause
    assert (says_full(cause), says_full(wrapped)) == (is_full, is_full)
