"""vmpool SIGKILLed in every state of a machine and restarted: the cloud has only the machines that the pool lists."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError
from services.vmpool.machines.machine_token import SECRET_FILE
from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.billing_process import billing_process
from tests.services.vmpool.lab_pool_process import LabPool, lab_pool
from tests.services.vmpool.lossy_relay import LossyRelay
from tests.services.vmpool.pool_process import DEADLINE_SECONDS, history, leased, machines, seen_in

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.slow, pytest.mark.timeout(400)]

NOBODY = "http://127.0.0.1:1"
PATIENT = {"VMPOOL_LOST_AFTER": "60"}
"""On a busy computer, heartbeats of a healthy machine may be late."""


@pytest.fixture(scope="module")
def billing_target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with billing_process(tmp_path_factory.mktemp("billing")) as target:
        yield target


@pytest.fixture
def pool(tmp_path: Path, dstack_server: DstackServer, lab_client: LabClient, billing_target: str) -> Iterator[LabPool]:
    with lab_pool(tmp_path, dstack_server, billing_target, PATIENT) as pool:
        yield pool


async def test_a_pool_killed_in_every_state_of_its_machine_takes_it_on_each_time(
    pool: LabPool, dstack_server: DstackServer, fake_cloud: FakeCloud
) -> None:
    fake_cloud.hold_boots()
    async with LossyRelay(dstack_server.url) as relay:
        await killed_while_ordering(pool, relay)
        await killed_before_it_is_warm(pool, fake_cloud)
        lease = await killed_while_it_serves(pool)
        ended = await killed_while_releasing(pool, relay, lease)
    assert pool.end(signal.SIGTERM) == 0
    assert fake_cloud.existing() == []
    assert [each.status for each in fake_cloud.ledger()] == ["deleted"]
    assert {event.machine.machine_id for event in ended} == {lease.machine_id}
    assert states_of(ended) == "REQUESTED PROVISIONING STARTING WARM BUSY WARM DRAINING STOPPED"
    assert ended[-1].machine.cost_micros > 0


async def killed_while_ordering(pool: LabPool, relay: LossyRelay) -> None:
    """Kills once before dstack hears of the order, and once before its answer comes back."""
    pool.start(VMPOOL_DSTACK_SERVER_URL=relay.url)
    async with pool.stub() as stub:
        lost = relay.lose("runs/apply")
        await stub.RequestMachine(pb.RequestMachineRequest(gpu_type="MI300X"), timeout=DEADLINE_SECONDS)
        await asyncio.wait_for(lost.wait(), DEADLINE_SECONDS)
        assert [each.state for each in await machines(stub)] == [pb.MACHINE_STATE_REQUESTED]
    pool.kill()
    lost = relay.lose("runs/apply", answer_only=True)
    pool.start(VMPOOL_DSTACK_SERVER_URL=relay.url)
    async with pool.stub() as stub:
        await asyncio.wait_for(lost.wait(), DEADLINE_SECONDS)
        assert [each.state for each in await machines(stub)] == [pb.MACHINE_STATE_REQUESTED]
    pool.kill()


async def killed_before_it_is_warm(pool: LabPool, cloud: FakeCloud) -> None:
    pool.start()
    async with pool.stub() as stub:
        await seen_in(stub, pb.MACHINE_STATE_PROVISIONING)
        await asyncio.to_thread(cloud.wait_until, lambda cloud: cloud.existing() != [])
    pool.kill()
    await asyncio.to_thread(cloud.heal)
    pool.start()
    async with pool.stub() as stub:
        await seen_in(stub, pb.MACHINE_STATE_STARTING)
    pool.kill()
    assert len(cloud.existing()) == 1
    pool.let_executors_start()


async def killed_while_it_serves(pool: LabPool) -> pb.Lease:
    """Kills while the machine is idle, then with a lease; the process after that cannot reach dstack."""
    pool.start()
    async with pool.stub() as stub:
        await seen_in(stub, pb.MACHINE_STATE_WARM)
    pool.kill()
    pool.start()
    async with pool.stub() as stub:
        lease = await leased(stub)
    pool.kill()
    pool.start(VMPOOL_DSTACK_SERVER_URL=NOBODY)
    async with pool.stub() as stub:
        await answering(lease.executor_endpoint)
        assert await leased(stub) == lease
        assert [each.state for each in await machines(stub)] == [pb.MACHINE_STATE_BUSY]
    pool.kill()
    return lease


async def killed_while_releasing(pool: LabPool, relay: LossyRelay, lease: pb.Lease) -> list[pb.MachineEvent]:
    """Kills after dstack's run has ended, while dstack still keeps the machine, idle and paid for."""
    pool.start(VMPOOL_DSTACK_SERVER_URL=relay.url)
    async with pool.stub() as stub:
        renewed = await stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id))
        assert renewed.expire_time.ToNanoseconds() > lease.expire_time.ToNanoseconds()
        lost = relay.lose("fleets/delete_instances")
        await stub.ReleaseLease(pb.ReleaseLeaseRequest(lease_id=lease.lease_id))
        await stub.DrainMachine(pb.DrainMachineRequest(machine_id=lease.machine_id))
        await asyncio.wait_for(lost.wait(), DEADLINE_SECONDS)
        assert [each.state for each in await machines(stub)] == [pb.MACHINE_STATE_DRAINING]
    pool.kill()
    pool.start()
    async with pool.stub() as stub:
        return await history(stub, lease.machine_id)


async def test_a_machine_whose_record_is_lost_serves_on_and_one_whose_secret_is_lost_too_is_left_alone(
    pool: LabPool, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    pool.let_executors_start()
    pool.start()
    async with pool.stub() as stub:
        before = await leased(stub)
    pool.kill()
    pool.lose_record()
    pool.start()
    async with pool.stub() as stub:
        # This job waits from the start; the existing machine is found before another is made for it.
        after = await leased(stub, "next")
        assert after.machine_id == before.machine_id
        assert after.fencing_token > before.fencing_token
        (machine,) = await machines(stub)
        assert machine.origin == pb.MACHINE_ORIGIN_ADOPTED
    pool.kill()
    pool.lose_record()
    (pool.data_dir / SECRET_FILE).unlink()
    pool.start()
    async with pool.stub() as stub:
        assert await machines(stub) == []
    assert pool.end(signal.SIGTERM) == 0
    assert pool.log.count("it is left alone and costs money") == 1
    assert len(fake_cloud.existing()) == 1
    await asyncio.to_thread(lab_client.clear)
    assert fake_cloud.existing() == []
    assert len(fake_cloud.ledger()) == 1


def states_of(events: list[pb.MachineEvent]) -> str:
    """The states in their order."""
    names = [pb.MachineState.Name(event.machine.state).removeprefix("MACHINE_STATE_") for event in events]
    return " ".join(name for name, before in zip(names, ["", *names], strict=False) if name != before)


async def answering(endpoint: str) -> None:
    """Waits until the executor at the endpoint answers."""
    client = ExecutorClient(timedelta(seconds=5))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                try:
                    await client.health(endpoint, "any")
                except ExecutorUnreachableError:
                    await asyncio.sleep(0.1)
                else:
                    return
    finally:
        await client.close()
