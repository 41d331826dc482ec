"""vmpool as a process, as in production, with real executors, killed and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from cli.local.health import is_healthy
from tests.service_token import AllowedCaller
from tests.services.vmpool.local_machines import TINY_EXECUTOR, ended, is_alive, process_ids
from tests.services.vmpool.pool_process import DEADLINE_SECONDS, PoolProcess, leased
from vocabulary.ports import free_port

LOCAL = {"VMPOOL_LOCAL_EXECUTOR_PORT": "0", "VMPOOL_LOCAL_EXECUTOR_COMMAND": json.dumps(TINY_EXECUTOR)}


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolProcess]:
    pool = PoolProcess(tmp_path, LOCAL)
    pool.start()
    yield pool
    with reaping(pool):
        pool.end(signal.SIGTERM)


def machine_ids(pool: PoolProcess) -> list[str]:
    return [folder.name for folder in (pool.data_dir / "machines").glob("*")]


@contextmanager
def reaping(pool: PoolProcess) -> Generator[None]:
    """Kills everything that a failed test leaves."""
    keepers = [process_ids(pool.data_dir, machine_id)[0] for machine_id in machine_ids(pool)]
    try:
        yield
    finally:
        for keeper in filter(is_alive, keepers):
            os.kill(keeper, signal.SIGKILL)


async def test_a_killed_pool_takes_its_machine_and_lease_up_again(pool: PoolProcess) -> None:
    async with AllowedCaller(pool.target) as channel:
        stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)
        before = await leased(stub)
        keeper, executor = process_ids(pool.data_dir, before.machine_id)
        pool.kill()
        assert is_alive(executor)
        pool.start()
        assert await leased(stub) == before
        machine = (await stub.GetMachine(pb.GetMachineRequest(machine_id=before.machine_id))).machine
        assert machine.state == pb.MACHINE_STATE_BUSY
    assert pool.end(signal.SIGTERM) == 0
    assert not is_alive(executor)
    await ended(keeper)
    assert machine_ids(pool) == []


async def test_a_second_pool_on_the_same_data_is_refused_and_harms_nobody(pool: PoolProcess, tmp_path: Path) -> None:
    async with pool.stub() as stub:
        lease = await leased(stub)
        second = PoolProcess(tmp_path, {"VMPOOL_TAKEOVER_TIMEOUT": "0"})
        second.start()
        assert second.exit_status() == 1
        assert "vmpool: another vmpool serves this database already: stop that one" in pool.log
        assert await leased(stub) == lease


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_pool_that_waits_takes_over_from_one_that_was_killed_or_frozen_and_the_frozen_one_ends(
    tmp_path: Path, database_url: str, number: signal.Signals
) -> None:
    # On PostgreSQL the limit of SQLite does not count: a spare waits for ever.
    shared = {**LOCAL, "VMPOOL_DATABASE_URL": database_url, "VMPOOL_TAKEOVER_TIMEOUT": "0"}
    metrics_port = free_port()
    first = PoolProcess(tmp_path, shared)
    second = PoolProcess(tmp_path, {**shared, "VMPOOL_METRICS_PORT": str(metrics_port)})
    first.start()
    with reaping(second), killing(first, second):
        async with first.stub() as stub:
            before = await leased(stub)
        second.start()
        await said(second, "waiting for another process that serves this database to end")
        spare = (second.target, "vmpool", f"127.0.0.1:{metrics_port}")
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not await is_healthy(*spare):
                await asyncio.sleep(0.01)
        assert not await is_healthy(*spare[:2]), "it serves nothing"
        first.send(number)
        await said(second, '"epoch":2')
        async with second.stub() as stub:
            if number is signal.SIGSTOP:
                first.send(signal.SIGCONT)
                assert first.exit_status() == 1
                assert "another process has taken over: this one writes nothing more" in second.log
                assert "vmpool: another vmpool has taken over" in second.log
            assert await leased(stub) == before
            (machine,) = (await stub.ListMachines(pb.ListMachinesRequest())).machines
            assert machine.state == pb.MACHINE_STATE_BUSY
        assert second.end(signal.SIGTERM) == 0


@contextmanager
def killing(*pools: PoolProcess) -> Generator[None]:
    try:
        yield
    finally:
        for pool in pools:
            pool.end(signal.SIGKILL)


async def said(pool: PoolProcess, message: str) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while message not in pool.log:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"AMD_CONTAINER_MEMORY_LIMIT": "lots"}, "AMD_CONTAINER_MEMORY_LIMIT: must be an amount of memory"),
        ({"AMD_CONTAINER_ISOLATION": "maybe"}, "AMD_CONTAINER_ISOLATION: must be one of auto, required"),
        ({"AMD_DEFAULT_GPU": "H100"}, "AMD_DEFAULT_GPU: must be one of MI300X"),
        (
            {"VMPOOL_PROVIDERS": "docker", "VMPOOL_DOCKER_ENVIRONMENT": "rocm"},
            "VMPOOL_DOCKER_ENVIRONMENT: must be JSON",
        ),
        ({"VMPOOL_PROVIDERS": "dstack"}, "VMPOOL_DSTACK_TOKEN: is empty"),
    ],
)
def test_a_pool_that_cannot_take_its_settings_says_why_and_that_it_is_for_good(
    tmp_path: Path, wrong: dict[str, str], said: str
) -> None:
    pool = PoolProcess(tmp_path, wrong)
    pool.start()
    assert pool.exit_status() == os.EX_CONFIG
    assert said in pool.log
    assert "Traceback" not in pool.log


async def test_a_dead_executor_is_noticed_and_replaced(pool: PoolProcess) -> None:
    async with AllowedCaller(pool.target) as channel:
        stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)
        lease = await leased(stub)
        watch = stub.WatchMachines(pb.WatchMachinesRequest())
        os.kill(process_ids(pool.data_dir, lease.machine_id)[1], signal.SIGKILL)
        async with asyncio.timeout(60):
            async for answer in watch:
                if answer.event.machine.state == pb.MACHINE_STATE_LOST:
                    assert "SIGKILL" in answer.event.reason
                    break
        watch.cancel()
        assert (await leased(stub, "next")).machine_id != lease.machine_id


class Refusing(BaseHTTPRequestHandler):
    """Answers as dstack's server does to a token that was rotated."""

    def do_POST(self) -> None:
        body = json.dumps({"detail": [{"code": "invalid_credentials", "msg": "Access denied"}]}).encode()
        self.send_response(403)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keeps the log out of the test's output."""


@contextmanager
def refusing_server() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


async def test_a_provider_that_refuses_at_the_start_keeps_no_other_from_its_machines(pool: PoolProcess) -> None:
    async with pool.stub() as stub:
        before = await leased(stub)
    pool.kill()
    with refusing_server() as url:
        rotated = {"VMPOOL_DSTACK_SERVER_URL": url, "VMPOOL_DSTACK_TOKEN": "rotated"}
        pool.start(VMPOOL_PROVIDERS="dstack,local", **rotated)
        async with pool.stub() as stub:
            assert await leased(stub) == before
            (refused,) = (await stub.ListMachines(pb.ListMachinesRequest())).refused_providers
            findings = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert refused.provider == "dstack"
    assert "set VMPOOL_DSTACK_TOKEN to a token of the server" in refused.message
    assert next((found.check, found.ok) for found in findings if found.provider == "dstack") == ("start", False)
    assert all(found.ok for found in findings if found.provider == "local")
