"""An executor's server in this process, with judges that follow a script."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from servicekit.clock import Clock, SystemClock
from servicekit.rpc.channels import open_channel
from services.executor.config import ExecutorSettings
from services.executor.core.model.job import CoreJob
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.judges.judge import Judge
from services.executor.machine.inventory import InventoryReader
from services.executor.machine.load import LoadMeter
from services.executor.machine.signing import Signer
from services.executor.server import ExecutorServer, build_server
from services.executor.sessions.session_sandbox import SessionSandbox
from services.executor.wire.capabilities import Capabilities
from submissions.modes import Mode
from tests.services.executor.client import ADMIN_TOKEN, LEASE_TOKEN, Client, StartExecutor

JUDGE = [sys.executable, str(Path(__file__).with_name("scripted_judge.py"))]
REPOSITORY = Path(__file__).parents[3]
CAPABILITIES = Capabilities(
    device=DeviceDescription("cpu", "A Test 3000", "x86_64", 64, 2, 1024, is_gpu=False),
    toolchain=Toolchain("scripted-1", "scripted 1.0"),
    sandbox="process",
    sandbox_gaps=("everything is open",),
    signing_public_key="",
    problems=("softmax",),
    clock=SystemClock(),
    start_time=datetime(2026, 1, 1, tzinfo=UTC),
    inventory=InventoryReader(CpuDevice(), SystemClock()),
    load=LoadMeter(CpuDevice(), 0),
)


async def start_judge() -> Judge:
    return await Judge.start(JUDGE, os.environ)


async def start_soon_killed_judge() -> Judge:
    """A judge that is not waited for long if it does not end."""
    return await Judge.start(JUDGE, os.environ, grace_seconds=0.2, death_seconds=0.2)


@pytest.fixture
async def start_executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[StartExecutor]:
    """Starts servers with the given settings; they are stopped at the end."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))

    async with AsyncExitStack() as cleanup:

        async def start(
            *,
            canary: str = "finish ACCEPTED",
            is_gpu: bool = False,
            machine: object = None,
            judges: Callable[[], Awaitable[Judge]] = start_judge,
            clock: Clock | None = None,
            session_sandbox: SessionSandbox | str = "no session in this test",
            prepare: Callable[[], None] = lambda: None,
            **settings: object,
        ) -> tuple[ExecutorServer, Client]:
            tokens = {"token": LEASE_TOKEN, "admin_token": ADMIN_TOKEN}
            fixed = {"port": 0, "work_dir": tmp_path, "data_dir": tmp_path, "drain": 0.2, "judge_spares": 0, **tokens}
            chosen = ExecutorSettings.model_validate({**fixed, **settings})
            signer = Signer.kept_in(tmp_path / "signing-key")
            device = replace(CAPABILITIES.device, is_gpu=is_gpu)
            inventory = InventoryReader(machine or CpuDevice(), SystemClock())
            await inventory.read()
            facts = {"device": device, "inventory": inventory, "prepare": prepare}
            capabilities = replace(CAPABILITIES, **facts, clock=clock or CAPABILITIES.clock)
            job = CoreJob(canary, Mode.SANDBOX)
            server = build_server(chosen, capabilities, signer, judges, job, session_sandbox)
            await server.start()
            cleanup.push_async_callback(server.stop)
            channel = open_channel(f"127.0.0.1:{server.port}")
            cleanup.push_async_callback(channel.close)
            return server, Client(channel)

        yield start


@pytest.fixture
async def client(start_executor: StartExecutor) -> Client:
    """A client of an executor with one slot."""
    return (await start_executor())[1]
