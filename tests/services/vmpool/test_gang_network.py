"""Nodes on two local machines reach each other through a vmpool process: by TCP, and by real ssh."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.executor.v1 import inventory_pb2, session_pb2
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from servicekit.rpc.channels import open_channel
from tests.services.executor.sessions.session_client import Access, Person, SessionClient, session_request
from tests.services.vmpool.pool_process import DEADLINE_SECONDS, PoolProcess, machines
from vocabulary.gang_nodes import SEED_BYTES, node_address, node_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence
    from pathlib import Path

    from tests.services.vmpool.pool_process import Stub

pytestmark = [
    *(pytest.mark.sshd, pytest.mark.bubblewrap, pytest.mark.network, pytest.mark.slow),
    pytest.mark.timeout(300),
]

LOCAL = {"VMPOOL_LOCAL_EXECUTOR_PORT": "0", "VMPOOL_LOST_AFTER": "60", "VMPOOL_MAX_MACHINES": "2"}
WHOLE = inventory_pb2.Slot(eighths=8)
NODES = 2


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[PoolProcess]:
    pool = PoolProcess(tmp_path, LOCAL)
    pool.start()
    yield pool
    pool.end(signal.SIGTERM)


@pytest.fixture
def alice(tmp_path: Path) -> Person:
    return Person("alice", tmp_path)


async def reserved(stub: Stub) -> Sequence[pb.Lease]:
    """A gang's leases of two machines, which are started for it."""
    demand = pb.Demand(gpu_type="MI300X", eighths=8, jobs=NODES)
    ready: list[pb.Machine] = []
    async with asyncio.timeout(DEADLINE_SECONDS):
        while len(ready) < NODES:
            await stub.ReportDemand(pb.ReportDemandRequest(demands=[demand]))
            ready = [one for one in await machines(stub) if one.state == pb.MACHINE_STATE_WARM]
            await asyncio.sleep(0.1)
    request = pb.AcquireLeaseRequest(
        job_id="res_1",
        attempt=1,
        gpu_type="MI300X",
        duration=Duration(seconds=3600),
        holder=pb.LEASE_HOLDER_RESERVATION,
        placements=[pb.Placement(machine_id=one.machine_id, slots=[WHOLE]) for one in ready],
    )
    return [grant.lease for grant in (await stub.AcquireLease(request)).grants]


@asynccontextmanager
async def sessions(leases: Sequence[pb.Lease], person: Person, folder: Path) -> AsyncGenerator[Sequence[Access]]:
    """The sessions of the nodes, which the test opens as the scheduler would."""
    nodes = [session_pb2.GangNode(name=node_name(rank), address=node_address(rank)) for rank in range(NODES)]
    async with AsyncExitStack() as stack:
        opened: list[Access] = []
        for rank, lease in enumerate(leases):
            channel = await stack.enter_async_context(open_channel(lease.executor_endpoint))
            client = SessionClient(int(lease.executor_endpoint.rpartition(":")[2]), channel, lease.executor_token)
            gang = session_pb2.Gang(gang_id=lease.gang_id, rank=rank, nodes=nodes, ssh_seed=b"s" * SEED_BYTES)
            request = session_request([person], fencing_token=lease.fencing_token, gang=gang)
            access = Access(client, request, client.events(request), folder)
            access.host_key = (await access.events.reach("ready")).ready.host_key
            access.known_hosts.write_text(f"session {access.host_key}\n")
            opened.append(access)
        yield opened


async def test_nodes_on_two_machines_reach_each_other_and_a_killed_pool_only_pauses_that(
    pool: PoolProcess, alice: Person, tmp_path: Path
) -> None:
    async with pool.stub() as stub:
        leases = await reserved(stub)
    async with sessions(leases, alice, tmp_path) as (first, second):
        command = "ssh node-1 'echo $NODE_RANK on $(hostname); head -c 8000000 /dev/zero' | tr '\\0' x | wc -cL"
        assert (await first.run(alice, command))[0] == 0
        status, said = await second.run(alice, "ssh node-0 'echo $NODE_RANK on $(hostname)'")
        assert (status, said) == (0, "0 on node-0\n")
        async with first.terminal(alice) as terminal:
            await terminal.type("ssh node-1")
            await terminal.see("dev@node-1")
            pool.kill()
            await terminal.type("echo still-'here'")
            pool.start()
            await terminal.see("still-here")
        async with pool.stub() as stub:
            await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=leases[0].lease_id))
        status, said = await first.run(
            alice, "until ! timeout 3 ssh -o ConnectTimeout=2 node-1 true; do :; done; echo parted"
        )
        assert "parted" in said
