"""vmpool as the process that it is in real life, with real executors, killed and stopped."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import grpc
import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from servicekit.channels import open_channel
from services.vmpool.providers.local_keeper import free_port
from tests.services.vmpool.local_machines import DEADLINE_SECONDS, TINY_EXECUTOR, ended, is_alive, process_ids

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path


class PoolProcess:
    """One vmpool after another on one data folder and port."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.target = f"127.0.0.1:{free_port(0)}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        settings = {
            "VMPOOL_DATA_DIR": str(self.data_dir),
            "VMPOOL_PORT": self.target.rpartition(":")[2],
            "VMPOOL_METRICS_PORT": "0",
            "VMPOOL_BILLING_TARGET": "127.0.0.1:1",
            "VMPOOL_LOCAL_EXECUTOR_PORT": "0",
            "VMPOOL_LOCAL_EXECUTOR_COMMAND": json.dumps(TINY_EXECUTOR),
        }
        with (self.data_dir / "vmpool.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.vmpool"], env={**os.environ, **settings}, stdout=log, stderr=log
            )

    def end(self, number: int) -> int:
        process = self._process
        assert process is not None
        if process.poll() is None:
            process.send_signal(number)
        return process.wait(DEADLINE_SECONDS)

    def machine_ids(self) -> list[str]:
        return [folder.name for folder in (self.data_dir / "machines").glob("*")]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolProcess]:
    pool = PoolProcess(tmp_path)
    pool.start()
    yield pool
    with reaping(pool):
        pool.end(signal.SIGTERM)


@contextmanager
def reaping(pool: PoolProcess) -> Generator[None]:
    """Whatever a failed test leaves is killed."""
    keepers = [process_ids(pool.data_dir, machine_id)[0] for machine_id in pool.machine_ids()]
    try:
        yield
    finally:
        for keeper in filter(is_alive, keepers):
            os.kill(keeper, signal.SIGKILL)


async def leased(stub: vmpool_pb2_grpc.VmPoolServiceAsyncStub, job_id: str = "job") -> pb.Lease:
    """A lease, as soon as there is a machine; the process and its machine come up meanwhile."""
    request = pb.AcquireLeaseRequest(job_id=job_id, attempt=1, gpu_type="MI300X", eighths=8)
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            try:
                return (await stub.AcquireLease(request, wait_for_ready=True)).lease
            except grpc.aio.AioRpcError as error:
                if error.code() not in {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE}:
                    raise
                await asyncio.sleep(0.05)


async def test_a_killed_pool_takes_its_machine_and_lease_up_again(pool: PoolProcess) -> None:
    async with open_channel(pool.target) as channel:
        stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)
        before = await leased(stub)
        keeper, executor = process_ids(pool.data_dir, before.machine_id)
        pool.end(signal.SIGKILL)
        assert is_alive(executor)
        pool.start()
        assert await leased(stub) == before
        machine = (await stub.GetMachine(pb.GetMachineRequest(machine_id=before.machine_id))).machine
        assert machine.state == pb.MACHINE_STATE_BUSY
    assert pool.end(signal.SIGTERM) == 0
    assert not is_alive(executor)
    await ended(keeper)
    assert pool.machine_ids() == []


async def test_a_dead_executor_is_noticed_within_ten_seconds_and_replaced(pool: PoolProcess) -> None:
    async with open_channel(pool.target) as channel:
        stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)
        lease = await leased(stub)
        watch = stub.WatchMachines(pb.WatchMachinesRequest())
        os.kill(process_ids(pool.data_dir, lease.machine_id)[1], signal.SIGKILL)
        async with asyncio.timeout(10):
            async for answer in watch:
                if answer.event.machine.state == pb.MACHINE_STATE_LOST:
                    assert "SIGKILL" in answer.event.reason
                    break
        watch.cancel()
        assert (await leased(stub, "next")).machine_id != lease.machine_id
