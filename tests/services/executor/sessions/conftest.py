"""An executor in this process with real sandboxes for sessions, a clock that the test moves, and people with keys."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from servicekit.clock import ManualClock
from servicekit.rpc.proto_time import instant_to_proto
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sessions.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from services.executor.server import ExecutorServer
    from tests.services.executor.client import StartExecutor


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
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    return Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)
