"""The pool on a real database with a scripted provider and a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from servicekit.clock import ManualClock
from servicekit.db import database
from services.vmpool.config import VmPoolSettings
from services.vmpool.lifecycle.driver import MachineDriver
from services.vmpool.lifecycle.health_book import HealthBook
from services.vmpool.lifecycle.load_book import LoadBook
from services.vmpool.lifecycle.machine_poller import MachinePoller
from services.vmpool.lifecycle.orphans import LOOK_SECONDS, Orphans
from services.vmpool.lifecycle.reconciler import ORDER_SECONDS, Reconciler
from services.vmpool.lifecycle.record import Record
from services.vmpool.lifecycle.releaser import RELEASE_SECONDS, Releaser
from services.vmpool.machines.lease import Lease, LeaseRequest
from services.vmpool.machines.machine import Inventory, Machine, MachineState
from services.vmpool.machines.machine_token import MachineTokens
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.packing import Demand
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.server import VmPool, build
from tests.schemas import migrate
from tests.service_token import AllowedCaller
from tests.services.vmpool.scripted_provider import ScriptedExecutors, ScriptedProvider

DEADLINE_SECONDS = 60
START = datetime(2026, 1, 1, tzinfo=UTC)
ON_SQLITE = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Of a module for which one kind of database is enough: the tests of the stores cover the differences."""


def a_machine(**changes: Any) -> Machine:
    fields: dict[str, Any] = {
        "machine_id": "m1",
        "provider": "scripted",
        "gpu_type": "MI300X",
        "gpu_count": 1,
        "token": "secret",
        "price_micros_per_hour": 3_600_000_000,
        "create_time": START,
        "state_time": START,
    }
    return Machine(**(fields | changes))


def a_request(job_id: str = "job", **changes: Any) -> LeaseRequest:
    fields: dict[str, Any] = {
        "attempt": 1,
        "gpu_type": "MI300X",
        "eighths": 8,
        "machine_id": None,
        "duration": timedelta(seconds=60),
    }
    return LeaseRequest(job_id=job_id, **(fields | changes))


@dataclass
class ScriptedFunding:
    """Scripted money: unlimited at first."""

    left: Funds = field(default_factory=Funds)

    async def funds(self) -> Funds:
        return self.left


@dataclass
class Bench:
    """The pool with its whole environment under the test's control."""

    vmpool: VmPool
    database: database.Database
    provider: ScriptedProvider
    executors: ScriptedExecutors
    clock: ManualClock
    settings: VmPoolSettings
    funding: ScriptedFunding = field(default_factory=ScriptedFunding)

    def __post_init__(self) -> None:
        self.machines = self.vmpool.pool.machines
        self.leases = self.vmpool.pool.leases
        self.reconciler = self.vmpool.reconciler
        self._poller = self.reconciler._driver._poller
        # A test that is stalled for a second or two still finds what its passes have made.
        self.reconciler._pass_seconds = self._poller._wait_seconds = DEADLINE_SECONDS

    def reconcile_with(
        self,
        answer_seconds: float = DEADLINE_SECONDS,
        release_seconds: float = RELEASE_SECONDS,
        pass_seconds: float = DEADLINE_SECONDS,
        order_seconds: float = ORDER_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Reconciles with these times from now on."""
        providers, record = self.vmpool.pool.providers, Record(self.machines)
        self._poller = MachinePoller(providers, answer_seconds)
        releaser = Releaser(providers, record, self._poller, self.clock, release_seconds)
        times = self.settings
        health = HealthBook(times.heartbeat_interval, times.lost_after, times.reserved_lost_after)
        driver = MachineDriver(
            self.machines,
            self.leases,
            record,
            providers,
            self._poller,
            releaser,
            self.executors,
            health,
            LoadBook(self.settings.metrics_window),
            self.clock,
        )
        tokens = MachineTokens(self.settings.resolved_secret())
        orphans = Orphans(self.machines, providers, tokens, self.settings.strangers, self.clock, look_seconds)
        self.reconciler = Reconciler(
            self.machines, self.leases, providers, driver, orphans, self.vmpool.wakes[0], pass_seconds, order_seconds
        )

    async def close(self) -> None:
        """Ends the polls of a reconciler that `reconcile_with` made."""
        await self._poller.close()

    async def lease(self, job_id: str = "job", **changes: Any) -> Lease:
        """A lease of a machine that has room for it."""
        granted = await self.leases.acquire(a_request(job_id, **changes))
        assert granted is not None
        return granted[0]

    async def add_warm(
        self, machine_id: str = "m1", gpu_count: int = 1, endpoint: str = "127.0.0.1:1", **changes: Any
    ) -> Machine:
        """A machine of the record that is ready, and that the provider knows nothing of."""
        now = self.clock.now()
        machine = a_machine(machine_id=machine_id, gpu_count=gpu_count, occupied=(0,) * gpu_count, **changes)
        machine = machine.provision(now).start(now, endpoint).join(now, Inventory(device="cpu"))
        return await self.machines.add(machine, "test")

    async def demand(self, gpu_type: str = "MI300X", jobs: int = 1, eighths: int = 8) -> tuple[int, str]:
        self.vmpool.pool.demand.report([Demand(gpu_type, eighths, jobs)], self.clock.now())
        return await self.resize()

    async def resize(self) -> tuple[int, str]:
        starting, plan = await self.vmpool.sizer.resize()
        return starting, plan.blocked_reason

    async def no_demand(self) -> None:
        self.vmpool.pool.demand.report([], self.clock.now())
        await self.vmpool.sizer.resize()

    async def passes(self, count: int = 1) -> None:
        for _ in range(count):
            await self.reconciler.run_once()

    async def warm_machine(self, gpu_type: str = "MI300X") -> Machine:
        await self.demand(gpu_type)
        await self.passes(3)
        async with asyncio.timeout(DEADLINE_SECONDS):
            # On a busy computer a pass may end before a machine's step does.
            while (machine := await self._only_machine(gpu_type)).state is not MachineState.WARM:
                await self.passes()
        await self.no_demand()
        return machine

    async def _only_machine(self, gpu_type: str) -> Machine:
        (machine,) = [m for m in await self.machines.unreleased() if m.gpu_type == gpu_type]
        return machine

    async def state_of(self, machine_id: str) -> MachineState:
        return (await self.machines.get(machine_id)).state


@pytest.fixture
def schema() -> str:
    return "services.vmpool:migrations"


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> VmPoolSettings:
    return VmPoolSettings(
        port=0,
        data_dir=tmp_path / "data",
        database_url=database_url,
        max_machines=2,
        billing_target="127.0.0.1:1",
    )


@asynccontextmanager
async def bench_on(settings: VmPoolSettings, provider: ScriptedProvider, clock: ManualClock) -> AsyncGenerator[Bench]:
    """A separate pool on the settings' database, like that of a restarted process."""
    db = database.Database(str(settings.database_url))
    await migrate(db, "services.vmpool:migrations")
    executors = ScriptedExecutors()
    funding = ScriptedFunding()
    async with build(settings, db, ProviderSet([provider]), executors, clock, funding) as vmpool:
        bench = Bench(vmpool, db, provider, executors, clock, settings, funding)
        yield bench
        await bench.close()
    await db.close()


@pytest.fixture
async def bench(settings: VmPoolSettings, free_clock: ManualClock) -> AsyncGenerator[Bench]:
    async with bench_on(settings, ScriptedProvider(), free_clock) as bench:
        yield bench


@pytest.fixture
async def stub(bench: Bench) -> AsyncIterator[vmpool_pb2_grpc.VmPoolServiceAsyncStub]:
    await bench.vmpool.server.start()
    async with AllowedCaller(f"127.0.0.1:{bench.vmpool.server.port}", bench.settings.service_token()) as channel:
        yield vmpool_pb2_grpc.VmPoolServiceStub(channel)
    await bench.vmpool.server.stop(timedelta(0))
