"""An executor in this process with real sandboxes for sessions, a clock that the test moves, and people with keys."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from wavepool.executor.v1 import inventory_pb2

from hipcpu.build_folder import BuildKind
from servicekit.clock import ManualClock
from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.device import DeviceDescription
from services.executor.sandboxes.sandbox import Command, Mount
from services.executor.server import ExecutorServer
from services.executor.sessions.network.destinations import Destinations
from services.executor.sessions.root.bubblewrap_session import BubblewrapSession, open_bubblewrap_session
from tests.needs import REPOSITORY
from tests.services.executor.client import StartExecutor
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return Person("alice", tmp_path)


@pytest.fixture
def bob(tmp_path: Path) -> Person:
    return Person("bob", tmp_path)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))


class Machine:
    """An executor that can hold sessions."""

    def __init__(self, server: ExecutorServer, client: SessionClient, clock: ManualClock, folder: Path) -> None:
        self.server = server
        self.client = client
        self.clock = clock
        self.folder = folder

    def pass_time(self, **by: float) -> None:
        """Moves the clock, and lets the sessions look at it."""
        self.clock.advance(timedelta(**by))
        self.server.sessions.run_once()

    @asynccontextmanager
    async def session(self, *people: Person, minutes: float = 60, **fields: Any) -> AsyncGenerator[Access]:
        """An open session, which ends after `minutes`; it is closed at the end of the block."""
        end = instant_to_proto(self.clock.now() + timedelta(minutes=minutes))
        request = session_request(people, **{"end_time": end, **fields})
        access = Access(self.client, request, self.client.events(request), self.folder)
        ready = (await access.events.reach("ready")).ready
        access.host_key = ready.host_key
        access.known_hosts.write_text(f"session {ready.host_key}\n")
        try:
            yield access
        finally:
            await self.client.close(access.session_id, fencing_token=request.fencing_token)


@pytest.fixture
async def machine(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock) -> Machine:
    """A machine with one GPU."""
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


@pytest.fixture
async def online_machine(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock) -> Machine:
    """A machine with two GPUs, as far as leases go, whose sessions have a network."""
    sandbox = await open_bubblewrap_session(TwoGpus(), tmp_path, Destinations())  # pyright: ignore - as below
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=2, max_runs=2)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


@pytest.fixture
async def large_machine(start_executor: StartExecutor, tmp_path: Path, clock: ManualClock) -> Machine:
    """A machine with two GPUs, as far as leases go; device nodes stand for them."""
    sandbox = BubblewrapSession(TwoGpus(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock, gpu_count=2, max_runs=2)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)


SYSTEM_PYTHON = Path("/usr/bin/python3")


@pytest.fixture
def _system_python() -> None:
    """Skips the test unless the system's Python can read and run the executor as another user."""
    ask = [SYSTEM_PYTHON, "-c", "import sys; print(*sys.version_info[:2])"]
    version = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.split()
    closed = [folder for folder in (REPOSITORY, *REPOSITORY.parents) if folder.stat().st_mode & 0o005 != 0o005]
    if version != [str(number) for number in sys.version_info[:2]] or closed:
        pytest.skip("the system's Python is another one than ours, or an ordinary user cannot read the checkout")


NODES = [path for path in map(Path, ("/dev/kmsg", "/dev/fuse", "/dev/tty0", "/dev/loop-control")) if path.exists()]
SLOTS = [[inventory_pb2.Slot(gpu=gpu, eighths=8)] for gpu in (0, 1)]
"""The whole of each GPU of a large machine."""


class TwoGpus:
    """A device with two GPUs, each of which is a node of this machine that nobody opens."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = numbers

    def describe(self) -> DeviceDescription:
        return DeviceDescription("test", "Two Nodes", "x86_64", 64, 2, 1024, is_gpu=True)

    def on(self, numbers: Sequence[int]) -> TwoGpus:
        return TwoGpus(*numbers)

    def run_command(self, folder: Path, kind: BuildKind) -> Command:
        library = folder.parent / "library"
        (library / "bin").mkdir(parents=True)
        visible = {"ROCR_VISIBLE_DEVICES": ",".join(map(str, self._numbers))}
        mounts = [Mount(folder, Path("/build")), Mount(library, Path("/opt/library"))]
        return Command(["/build/program"], Path("/build"), mounts, visible, [NODES[n] for n in self._numbers])
