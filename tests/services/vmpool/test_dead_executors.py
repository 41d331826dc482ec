"""Executors on dstack's machines die while dstack's server is away: the pool's own heartbeat notices."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import psutil
import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.billing_process import billing_process
from tests.services.vmpool.lab_pool_process import lab_pool
from tests.services.vmpool.local_machines import TINY_EXECUTOR
from tests.services.vmpool.pool_process import DEADLINE_SECONDS, history, leased, machines

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.slow, pytest.mark.timeout(400)]

SETTINGS = {"VMPOOL_MAX_MACHINES": "3", "VMPOOL_DSTACK_STOP_GRACE": "1"}
"""A frozen machine's run does not end within its grace, which the pool waits for before it has the run aborted."""


async def test_dead_executors_are_noticed_while_dstack_hangs_and_their_machines_released_after_it(
    tmp_path: Path, dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud
) -> None:
    (tmp_path / "billing").mkdir()
    with (
        billing_process(tmp_path / "billing") as billing_target,
        lab_pool(tmp_path, dstack_server, billing_target, SETTINGS) as pool,
    ):
        pool.let_executors_start()
        pool.start()
        async with pool.stub() as stub:
            leases = await asyncio.gather(*(leased(stub, f"job-{number}") for number in range(3)))
            dstack_server.hang()
            try:
                await asyncio.to_thread(die, fake_cloud)
                losses = await asyncio.gather(*(lost(stub, lease) for lease in leases))
            finally:
                dstack_server.resume()
            for event in losses:
                assert event.machine.fault == pb.MACHINE_FAULT_UNREACHABLE
                assert "its executor has not answered for" in event.reason
            for lease in leases:
                with pytest.raises(grpc.aio.AioRpcError, match="its machine is lost") as caught:
                    await stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id))
                assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
                events = await history(stub, lease.machine_id)
                assert events[-1].machine.state == pb.MACHINE_STATE_LOST
            assert fake_cloud.existing() == []
            assert await machines(stub) == []
        assert pool.end(signal.SIGTERM) == 0
    assert len(fake_cloud.ledger()) == 3


def die(cloud: FakeCloud) -> None:
    """Kills one executor's process, freezes one machine, and powers one off."""
    killed, frozen, dark = cloud.existing()
    executor(cloud.processes(killed.id)).kill()
    cloud.freeze(frozen.id)
    cloud.power_off(dark.id)


def executor(processes: list[psutil.Process]) -> psutil.Process:
    """The process whose program is the executor, not the shells with it in their command lines."""
    (found,) = [each for each in processes if each.cmdline()[1:2] == [TINY_EXECUTOR[1]]]
    return found


async def lost(stub: VmPoolServiceAsyncStub, lease: pb.Lease) -> pb.MachineEvent:
    """The event by which the lease's machine was given up."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for answer in stub.WatchMachines(pb.WatchMachinesRequest(machine_id=lease.machine_id)):
            if answer.event.machine.state == pb.MACHINE_STATE_LOST:
                return answer.event
    raise AssertionError("the machine was over without being lost")
