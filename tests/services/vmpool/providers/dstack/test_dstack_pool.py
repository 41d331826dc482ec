"""The whole pool on dstack: whatever happens, the cloud has the machines that the pool reports, and none at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from servicekit.clock import SystemClock
from servicekit.db import database
from services.vmpool.config import VmPoolSettings
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.executor_client import ExecutorClient
from services.vmpool.machines.machine import Machine, MachineState
from services.vmpool.policy.sizing import Demand
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.server import VmPool, build
from tests.dstack_lab.client import LabClient
from tests.dstack_lab.fake_cloud import FakeCloud
from tests.dstack_lab.fixtures import cloud_of_module, dstack_server, fake_cloud, lab_client, run_key
from tests.dstack_lab.server import DstackServer
from tests.services.vmpool.conftest import ScriptedFunding
from tests.services.vmpool.providers.dstack.lab_provider import DEADLINE_SECONDS, lab_config

__all__ = ["cloud_of_module", "dstack_server", "fake_cloud", "lab_client", "run_key"]
pytestmark = [pytest.mark.dstack, pytest.mark.timeout(300)]


@dataclass
class LabPool:
    """One process's pool, whose loops run when the test says so."""

    vmpool: VmPool
    clock: SystemClock

    async def machines(self) -> list[Machine]:
        return list(await self.vmpool.pool.machines.unreleased())

    async def until(self, holds: Callable[[list[Machine]], bool], jobs: int) -> list[Machine]:
        """Runs the pool, with this many jobs waiting, until `holds` is true of its machines."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not holds(machines := await self.machines()):
                await self.passes(jobs)
        return machines

    async def passes(self, jobs: int, count: int = 1) -> None:
        for _ in range(count):
            self.vmpool.pool.demand.report([Demand("MI300X", 8, jobs)], self.clock.now())
            await self.vmpool.sizer.run_once()
            await self.vmpool.reconciler.run_once()
            await asyncio.sleep(0.05)


PATIENT = timedelta(minutes=1)
"""On a busy computer, heartbeats of a healthy machine may be late."""


@asynccontextmanager
async def pool_process(
    data_dir: Path, server: DstackServer, lost_after: timedelta = PATIENT
) -> AsyncGenerator[LabPool]:
    """A pool like that of one process: its state is in the database, at dstack, and on the disk."""
    settings = VmPoolSettings(
        port=0, data_dir=data_dir, max_machines=1, lost_after=lost_after, billing_target="127.0.0.1:1"
    )
    db = database.Database(f"sqlite+aiosqlite:///{data_dir / 'vmpool.db'}")
    await database.migrate(db, "services.vmpool:migrations")
    executors, clock = ExecutorClient(timedelta(seconds=2)), SystemClock()
    async with (
        ProviderSet([DstackProvider(lab_config(server, data_dir))]) as providers,
        build(settings, db, providers, executors, clock, ScriptedFunding()) as vmpool,
    ):
        yield LabPool(vmpool, clock)
    await executors.close()
    await db.close()


def is_warm(machines: list[Machine]) -> bool:
    return [machine.state for machine in machines] == [MachineState.WARM]


def is_empty(machines: list[Machine]) -> bool:
    return not machines


async def test_a_cloud_that_refuses_gives_way_to_the_next_and_a_dead_machine_is_lost_and_released(
    dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud, tmp_path: Path
) -> None:
    fake_cloud.refuse("create", 422, "no MI300X is left in atl1", backend="amddevcloud")
    async with pool_process(tmp_path, dstack_server) as pool:
        (warm,) = await pool.until(is_warm, jobs=1)
        assert (warm.backend, warm.price_micros_per_hour) == ("hotaisle", 2_100_000)
        assert warm.minimum_billed == timedelta(hours=2)
        (failures,) = (await pool.vmpool.pool.machines.failures()).values()
        assert "no MI300X is left in atl1" in str(failures)
    assert [each.backend for each in fake_cloud.existing()] == ["hotaisle"]
    async with pool_process(tmp_path, dstack_server) as pool:
        # Another process continues from there.
        await pool.passes(jobs=0, count=5)
        assert [(m.machine_id, m.state) for m in await pool.machines()] == [(warm.machine_id, MachineState.WARM)]
    fake_cloud.power_off(fake_cloud.existing()[0].id)
    async with pool_process(tmp_path, dstack_server, lost_after=timedelta(seconds=4)) as pool:
        await pool.until(is_empty, jobs=0)
        lost = await pool.vmpool.pool.machines.get(warm.machine_id)
        assert (lost.state, lost.fault) == (MachineState.LOST, Fault.UNREACHABLE)
        assert fake_cloud.existing() == []
        await pool.vmpool.close()
    assert len(fake_cloud.ledger()) == 1


async def test_a_server_that_is_killed_while_a_machine_starts_or_hangs_while_it_is_warm_costs_no_machine(
    dstack_server: DstackServer, lab_client: LabClient, fake_cloud: FakeCloud, tmp_path: Path
) -> None:
    fake_cloud.hold_boots()
    async with pool_process(tmp_path, dstack_server) as pool:
        # Not while the cloud creates it: a server that is killed then never learns of the machine.
        await pool.until(lambda machines: [each.provider_stage for each in machines] == ["provisioning"], jobs=1)
        dstack_server.kill()
        await pool.passes(jobs=1, count=5)
        assert [machine.state for machine in await pool.machines()] == [MachineState.PROVISIONING]
    # The pool's process is gone too; both come back.
    dstack_server.start()
    fake_cloud.heal()
    async with pool_process(tmp_path, dstack_server) as pool:
        (warm,) = await pool.until(is_warm, jobs=1)
        dstack_server.hang()
        try:
            await pool.passes(jobs=0, count=5)
            assert is_warm(await pool.machines())
        finally:
            dstack_server.resume()
        assert len(fake_cloud.existing()) == 1
        await pool.vmpool.close()
        assert (await pool.vmpool.pool.machines.get(warm.machine_id)).state is MachineState.STOPPED
    assert fake_cloud.existing() == []
    assert len(fake_cloud.ledger()) == 1
