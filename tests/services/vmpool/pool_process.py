"""vmpool as a process, as in production: killed, stopped and restarted on its own data."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from wavepool.vmpool.v1 import vmpool_pb2 as pb
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from tests.service_token import TOKEN_SETTING, AllowedCaller
from vocabulary.ports import free_port

if TYPE_CHECKING:
    Stub = vmpool_pb2_grpc.VmPoolServiceAsyncStub

DEADLINE_SECONDS = 90
"""Enough for a process that starts on a busy computer, with a machine of the lab."""

_NOT_YET = {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE}


class PoolProcess:
    """One vmpool after another on one data folder and port; `settings` are environment variables."""

    def __init__(self, data_dir: Path, settings: Mapping[str, str]) -> None:
        self.data_dir = data_dir
        self.target = f"127.0.0.1:{free_port()}"
        self._settings = {
            "VMPOOL_DATA_DIR": str(data_dir),
            "VMPOOL_PORT": self.target.rpartition(":")[2],
            "VMPOOL_METRICS_PORT": "0",
            "VMPOOL_BILLING_TARGET": "127.0.0.1:1",
            **TOKEN_SETTING,
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **changes: str) -> None:
        """Starts a process; `changes` override the settings for this process only."""
        with (self.data_dir / "vmpool.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.vmpool"],
                env={**os.environ, **self._settings, **changes},
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        assert self.end(signal.SIGKILL) == -signal.SIGKILL, f"it had ended before:\n{self.log[-5000:]}"

    def send(self, number: int) -> None:
        """Sends a signal to the process."""
        assert self._process is not None
        self._process.send_signal(number)

    def exit_status(self) -> int:
        """Waits until the process ends by itself; returns its exit status."""
        assert self._process is not None
        return self._process.wait(DEADLINE_SECONDS)

    def end(self, number: int) -> int:
        """Ends the process with this signal; returns its exit status."""
        process = self._process
        assert process is not None
        if process.poll() is None:
            process.send_signal(number)
        return process.wait(DEADLINE_SECONDS)

    @property
    def log(self) -> str:
        """The output of all its processes."""
        return (self.data_dir / "vmpool.log").read_text(errors="replace")

    def lose_record(self) -> None:
        """Deletes the database, as if its volume was not kept; no pool may be running."""
        for file in self.data_dir.glob("vmpool.db*"):
            file.unlink()

    @asynccontextmanager
    async def stub(self) -> AsyncGenerator[Stub]:
        """Calls to the present process; the first one waits until it serves."""
        async with AllowedCaller(self.target) as channel:
            stub = vmpool_pb2_grpc.VmPoolServiceStub(channel)
            try:
                await stub.ListMachines(pb.ListMachinesRequest(), wait_for_ready=True, timeout=DEADLINE_SECONDS)
            except grpc.aio.AioRpcError as error:
                raise AssertionError(f"the pool does not serve; its log ends:\n{self.log[-5000:]}") from error
            yield stub


async def leased(stub: Stub, job_id: str = "job", **fields: Any) -> pb.Lease:
    """Gets a lease as soon as there is a machine; the process and its machine may still be starting."""
    request = pb.AcquireLeaseRequest(job_id=job_id, attempt=1, gpu_type="MI300X", eighths=8, **fields)
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            try:
                return (await stub.AcquireLease(request, wait_for_ready=True)).grants[0].lease
            except grpc.aio.AioRpcError as error:
                if error.code() not in _NOT_YET:
                    raise
                await asyncio.sleep(0.05)


async def seen_in(stub: Stub, state: pb.MachineState, stage: str = "") -> pb.MachineEvent:
    """The event by which a machine is in this state or reaches it, at the given stage, if any."""
    watch = stub.WatchMachines(pb.WatchMachinesRequest())
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for answer in watch:
            if answer.event.machine.state == state and stage in ("", answer.event.provider_stage):
                watch.cancel()
                return answer.event
    raise AssertionError("the pool ended the stream")


async def history(stub: Stub, machine_id: str) -> list[pb.MachineEvent]:
    """All events of a machine that is over and released: waits for the release."""
    watch = stub.WatchMachines(pb.WatchMachinesRequest(machine_id=machine_id))
    async with asyncio.timeout(DEADLINE_SECONDS):
        return [answer.event async for answer in watch]


async def machines(stub: Stub) -> list[pb.Machine]:
    """The machines that are not over."""
    return list((await stub.ListMachines(pb.ListMachinesRequest())).machines)
