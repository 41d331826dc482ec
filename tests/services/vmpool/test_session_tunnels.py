"""Real ssh and sftp into a real session, through a vmpool process and the executor of its local machine."""

from __future__ import annotations

import os
import signal
import sys
from asyncio.subprocess import PIPE
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from tests.service_token import SERVICE_TOKEN
from tests.services.executor.sessions.session_client import PROXY, Access, Person, SessionClient, session_request
from tests.services.vmpool.pool_process import PoolProcess, leased

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from pathlib import Path

pytestmark = [pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(300)]

LOCAL = {"VMPOOL_LOCAL_EXECUTOR_PORT": "0", "VMPOOL_LOST_AFTER": "60"}
"""On a busy computer, heartbeats of a healthy machine may be late."""


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolProcess]:
    pool = PoolProcess(tmp_path, LOCAL)
    pool.start()
    yield pool
    pool.end(signal.SIGTERM)


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return Person("alice", tmp_path)


class TunnelAccess(Access):
    """A session that ssh reaches through vmpool."""

    def through(self, pool: PoolProcess, lease: pb.Lease) -> TunnelAccess:
        opened = (SERVICE_TOKEN.file, lease.lease_id, self.session_id)
        self._words = [sys.executable, PROXY, "tunnel", pool.target, *opened]
        return self

    def proxy(self) -> Sequence[object]:
        return self._words


@asynccontextmanager
async def a_session(pool: PoolProcess, lease: pb.Lease, person: Person, folder: Path) -> AsyncGenerator[TunnelAccess]:
    """A session under the lease, which the test opens as the scheduler would."""
    async with grpc.aio.insecure_channel(lease.executor_endpoint) as channel:
        client = SessionClient(int(lease.executor_endpoint.rpartition(":")[2]), channel, lease.executor_token)
        request = session_request([person], fencing_token=lease.fencing_token)
        access = TunnelAccess(client, request, client.events(request), folder).through(pool, lease)
        access.host_key = (await access.events.reach("ready")).ready.host_key
        access.known_hosts.write_text(f"session {access.host_key}\n")
        yield access


async def reserved(pool: PoolProcess) -> pb.Lease:
    async with pool.stub() as stub:
        return await leased(stub, "res_1", holder=pb.LEASE_HOLDER_RESERVATION, duration=Duration(seconds=86_400))


async def test_ssh_and_sftp_reach_a_session_until_its_lease_ends(
    pool: PoolProcess, alice: Person, tmp_path: Path
) -> None:
    lease = await reserved(pool)
    sent = tmp_path / "sent"
    sent.write_bytes(os.urandom(3 << 20))
    async with a_session(pool, lease, alice, tmp_path) as access:
        assert await access.run(alice, "id -un; exit 7") == (7, "dev\n")
        process = await access.start(alice, "-b", "-", "dev@session", program="sftp", stdin=PIPE)
        output, _ = await process.communicate(f"put {sent} there\nget there {tmp_path}/back\n".encode())
        assert process.returncode == 0, output
        assert (tmp_path / "back").read_bytes() == sent.read_bytes()
        async with access.terminal(alice) as terminal, pool.stub() as stub:
            await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
            assert await terminal.ended() == 255
        status, output = await access.run(alice, "true")
        assert status == 255
        assert "FAILED_PRECONDITION: Lease" in output


async def test_a_killed_pool_breaks_only_the_tunnel_and_the_session_goes_on(
    pool: PoolProcess, alice: Person, tmp_path: Path
) -> None:
    lease = await reserved(pool)
    async with a_session(pool, lease, alice, tmp_path) as access:
        async with access.terminal(alice) as terminal:
            await terminal.type("(sleep 1000 & echo $! > worker)")
            await terminal.type("echo it-'runs'")
            await terminal.see("it-runs")
            pool.kill()
            assert await terminal.ended() == 255
        pool.start()
        async with pool.stub() as stub:
            [machine] = (await stub.ListMachines(pb.ListMachinesRequest())).machines
            assert list(machine.reservation_ids) == ["res_1"]
            assert await access.run(alice, "kill -0 $(cat worker) && echo alive") == (0, "alive\n")
