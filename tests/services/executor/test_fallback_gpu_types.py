"""A job whose preferred GPU type is sold out: real scheduler, vmpool, billing and executor on a scripted provider."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from wavepool.scheduler.v1 import scheduler_pb2, scheduler_pb2_grpc
from wavepool.submission.v1 import submission_pb2
from wavepool.vmpool.v1 import vmpool_pb2

from servicekit.clock import SystemClock
from servicekit.db.database import Database, migrate
from servicekit.loops import run_loop
from servicekit.service_token import service_token_of
from services.billing.config import BillingSettings
from services.billing.server import build_alerting, build_server, build_stores, prepare
from services.billing.service.billing_service import Stores
from services.scheduler.config import SchedulerSettings
from services.scheduler.server import build as build_scheduler
from services.vmpool.config import VmPoolSettings
from services.vmpool.errors import ProviderError
from services.vmpool.fault import Fault
from services.vmpool.lifecycle.executor_client import ExecutorClient
from services.vmpool.providers.provider import UNNAMED, Observation, Order, ProviderState, Resource
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.server import build as build_vmpool
from tests.job_specs import job_spec
from tests.service_token import AllowedCaller
from tests.services.executor.client import QUICK, StartExecutor
from tests.services.scheduler.cluster import PROBLEM, PROBLEMS
from tests.services.vmpool.scripted_provider import ScriptedProvider
from vocabulary.money import price_of

TIMEOUT_SECONDS = 90.0
SOLD_OUT = "no MI300X is left in atl1, says the cloud"
MI300X_PRICE, MI210_PRICE = 1_990_000, 2_500_000


@dataclass
class HalfSoldOutProvider(ScriptedProvider):
    """Has no MI300X; on every other machine it starts a real executor, which is reachable once `up` is set."""

    price_micros_per_hour: int = MI300X_PRICE
    start_executor: StartExecutor | None = None
    asked_for: list[str] = field(default_factory=list[str])
    up: asyncio.Event = field(default_factory=asyncio.Event)

    async def provision(self, order: Order) -> None:
        self.asked_for.append(order.gpu_type)
        if order.gpu_type == "MI300X":
            raise ProviderError(SOLD_OUT, Fault.NO_CAPACITY)
        if order.machine_id not in self.machines:
            assert self.start_executor
            server, _ = await self.start_executor(token=order.token)
            endpoint = f"127.0.0.1:{server.port}"
            self.observations[order.machine_id] = Observation(ProviderState.RUNNING, endpoint=endpoint)
        await super().provision(order)

    async def observe(self, machine_id: str, resource: Resource = UNNAMED) -> Observation:
        observed = await super().observe(machine_id, resource)
        if observed.state is ProviderState.RUNNING and not self.up.is_set():
            return replace(observed, state=ProviderState.PENDING)
        return observed


@dataclass
class Services:
    """The parts of the services that the test needs."""

    scheduler: scheduler_pb2_grpc.SchedulerServiceAsyncStub
    stores: Stores
    account_id: str


async def billing_on(folder: Path, stack: AsyncExitStack) -> tuple[Stores, str]:
    """Starts billing; returns its stores and its target."""
    rates = {"MI210": Decimal(MI210_PRICE) / 1_000_000}
    settings = BillingSettings(port=0, data_dir=folder, hourly_rates=rates)
    db = Database(f"sqlite+aiosqlite:///{folder / 'billing.db'}")
    stack.push_async_callback(db.close)
    stores = build_stores(db, settings)
    await prepare(db, stores, settings)
    server = build_server(settings, stores, build_alerting(db, settings, SystemClock()))
    await server.start()
    stack.push_async_callback(server.stop, timedelta(0))
    return stores, f"127.0.0.1:{server.port}"


async def vmpool_on(folder: Path, provider: ScriptedProvider, billing: str, stack: AsyncExitStack) -> str:
    """Starts vmpool; returns its target."""
    quick = timedelta(milliseconds=200)
    settings = VmPoolSettings(port=0, data_dir=folder, billing_target=billing, reconcile_interval=quick)
    db = Database(f"sqlite+aiosqlite:///{folder / 'vmpool.db'}")
    stack.push_async_callback(db.close)
    await migrate(db, "services.vmpool:migrations")
    executors = ExecutorClient(settings.heartbeat_interval)
    stack.push_async_callback(executors.close)
    building = build_vmpool(settings, db, ProviderSet([provider]), executors, SystemClock())
    vmpool = await stack.enter_async_context(building)
    await vmpool.server.start()
    stack.push_async_callback(vmpool.server.stop, timedelta(0))
    loops = zip((vmpool.reconciler, vmpool.sizer), vmpool.wakes, strict=True)
    keep_running([run_loop(loop, quick, wake) for loop, wake in loops], stack)
    return f"127.0.0.1:{vmpool.server.port}"


async def scheduler_on(folder: Path, vmpool: str, billing: str, stack: AsyncExitStack) -> str:
    """Starts the scheduler; returns its target."""
    settings = SchedulerSettings(port=0, data_dir=folder, vmpool_target=vmpool, billing_target=billing)
    db = Database(f"sqlite+aiosqlite:///{folder / 'scheduler.db'}")
    stack.push_async_callback(db.close)
    await migrate(db, "services.scheduler:migrations")
    scheduler = await build_scheduler(settings, db, PROBLEMS, SystemClock())
    stack.push_async_callback(scheduler.close)
    await scheduler.server.start()
    stack.push_async_callback(scheduler.server.stop, timedelta(0))
    keep_running(scheduler.background(), stack)
    return f"127.0.0.1:{scheduler.server.port}"


def keep_running(loops: list[Coroutine[object, object, None]], stack: AsyncExitStack) -> None:
    tasks = [asyncio.create_task(loop) for loop in loops]

    async def end() -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    stack.push_async_callback(end)


@asynccontextmanager
async def services_on(folder: Path, provider: ScriptedProvider) -> AsyncGenerator[Services]:
    async with AsyncExitStack() as stack:
        stores, billing = await billing_on(folder, stack)
        account = await stores.accounts.create("somebody")
        await stores.ledger.grant(account.account_id, 100_000_000, "grant", "credit")
        vmpool = await vmpool_on(folder, provider, billing, stack)
        scheduler = await scheduler_on(folder, vmpool, billing, stack)
        channel = await stack.enter_async_context(AllowedCaller(scheduler, service_token_of(folder)))
        yield Services(scheduler_pb2_grpc.SchedulerServiceStub(channel), stores, account.account_id)


async def submitted(services: Services) -> scheduler_pb2.Job:
    spec = job_spec(
        problem=PROBLEM.slug, source=QUICK, mode=submission_pb2.RUN_MODE_CHECK, fallback_gpu_types=["mi210"]
    )
    request = scheduler_pb2.SubmitJobRequest(account_id=services.account_id, spec=spec, idempotency_key="key")
    return (await services.scheduler.SubmitJob(request, timeout=TIMEOUT_SECONDS)).job


async def events_to_end(
    services: Services, job: scheduler_pb2.Job, see: Callable[[scheduler_pb2.JobEvent], None]
) -> list[scheduler_pb2.JobEvent]:
    watch = services.scheduler.WatchJob(scheduler_pb2.WatchJobRequest(job_id=job.job_id), timeout=TIMEOUT_SECONDS)
    events: list[scheduler_pb2.JobEvent] = []
    async for answer in watch:
        events.append(answer.event)
        see(answer.event)
    return events


def first(events: list[scheduler_pb2.JobEvent], wanted: Callable[[scheduler_pb2.JobEvent], Any]) -> int:
    found = [number for number, event in enumerate(events) if wanted(event)]
    assert found, [
        str(event.queued.message or event.provisioning.message or event.WhichOneof("event")) for event in events
    ]
    return found[0]


async def test_a_job_whose_gpu_type_is_sold_out_runs_on_its_fallback_and_pays_for_that(
    start_executor: StartExecutor, tmp_path: Path
) -> None:
    provider = HalfSoldOutProvider(start_executor=start_executor)

    def see(event: scheduler_pb2.JobEvent) -> None:
        if event.provisioning.machine.gpu_type == "MI210":
            provider.up.set()

    async with services_on(tmp_path, provider) as services:
        job = await submitted(services)
        held = (await services.stores.accounts.get(services.account_id)).balance.held_micros
        events = await events_to_end(services, job, see)
        balance = (await services.stores.accounts.get(services.account_id)).balance

    assert held == MI210_PRICE // 4, "a quarter of an hour of the dearest that is allowed"
    assert (provider.asked_for[0], provider.asked_for[-1]) == ("MI300X", "MI210")

    starting = first(events, lambda event: f"{SOLD_OUT}; tried again" in event.provisioning.message)
    assert "trying MI210 at scripted now" in events[starting].provisioning.message
    assert events[starting].provisioning.machine.gpu_type == "MI210"
    ready = first(events, lambda event: event.provisioning.stage == "ready")
    assert events[ready].provisioning.start_kind == vmpool_pb2.START_KIND_COLD_START
    assert events[ready].provisioning.message.endswith("MI210 in place of MI300X")
    assert starting < ready

    ended = events[-1].ended
    assert (ended.state, ended.machine_gpu_type) == (scheduler_pb2.JOB_STATE_FINISHED, "MI210")
    billable = ended.result.billable.ToTimedelta()
    assert billable > timedelta(0)
    assert ended.cost_micros == balance.charged_micros == price_of(billable, MI210_PRICE)
    assert balance.held_micros == 0
