"""A real scheduler on loopback beside a scripted pool, billing and executor; it can die and come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from wavepool.billing.v1 import alerts_pb2_grpc, billing_pb2_grpc, identity_pb2_grpc, prices_pb2_grpc
from wavepool.executor.v1 import executor_pb2_grpc, session_pb2, session_pb2_grpc
from wavepool.scheduler.v1 import (
    disks_pb2_grpc,
    reservations_pb2,
    reservations_pb2_grpc,
    scheduler_pb2,
    scheduler_pb2_grpc,
)
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from problems.kit.definition import CatalogueEntry, Sizes
from problems.kit.signature import Initial, parse_signature
from servicekit.clock import Clock, SystemClock
from servicekit.db.database import Database
from services.scheduler.config import SchedulerSettings
from services.scheduler.server import MIGRATIONS, Scheduler, build
from tests.job_specs import sound_spec
from tests.schemas import migrate
from tests.service_token import AllowedCaller
from tests.services.scheduler.scripted_billing import ScriptedAlerts, ScriptedBilling, ScriptedIdentity
from tests.services.scheduler.scripted_executor import PASSING, ScriptedExecutor, compiling
from tests.services.scheduler.scripted_pool import ScriptedPool
from tests.services.scheduler.scripted_sessions import ScriptedSessions

ACCOUNT = "account-1"
USER = "user-1"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMo2DOvPDrT0rAYGdkNVCwkMhi+X4vXh5QD4Mo3Bolq+"
TIMEOUT_SECONDS = 60.0
PROBLEM = SimpleNamespace(
    slug="leaky-relu",
    title="Leaky ReLU",
    difficulty="EASY",
    tags=("elementwise",),
    dtypes=("float32",),
    signature="const float* input, float* output, size_t n",
    sizes=Sizes(cpu=(), gpu=()),
    parameters=parse_signature("const float* input, float* output, size_t n", {"output": Initial.POISON}, frozenset()),
)
PROBLEMS = {"leaky-relu": CatalogueEntry(cast("Any", PROBLEM), "# Leaky ReLU", "// begin here", "", "")}


class LaterClock:
    """The present time, and more of it when a test says so."""

    def __init__(self) -> None:
        self.later = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


@dataclass
class Cluster:
    """`api` is the scheduler's stub; `background` are its loops."""

    settings: SchedulerSettings
    pool: ScriptedPool
    billing: ScriptedBilling
    executor: ScriptedExecutor
    sessions: ScriptedSessions
    clock: Clock = field(default_factory=SystemClock)
    database: Database | None = None
    scheduler: Scheduler | None = None
    background: list[asyncio.Task[Any]] = field(default_factory=list[asyncio.Task[Any]])
    channel: grpc.aio.Channel | None = None

    @property
    def api(self) -> scheduler_pb2_grpc.SchedulerServiceAsyncStub:
        assert self.channel
        return scheduler_pb2_grpc.SchedulerServiceStub(self.channel)

    @property
    def reservations(self) -> reservations_pb2_grpc.ReservationServiceAsyncStub:
        assert self.channel
        return reservations_pb2_grpc.ReservationServiceStub(self.channel)

    @property
    def disks(self) -> disks_pb2_grpc.DiskServiceAsyncStub:
        assert self.channel
        return disks_pb2_grpc.DiskServiceStub(self.channel)

    async def start(self, *, loops: bool = True, leads: bool = True) -> None:
        """Starts a scheduler; without `loops` it only holds the lease, and without `leads` not even that."""
        self.database = Database(self.settings.resolved_database_url("scheduler"))
        await migrate(self.database, MIGRATIONS)
        self.scheduler = await build(self.settings, self.database, PROBLEMS, self.clock)
        # Without the HTTP server for metrics, whose thread takes half a second to stop.
        port = self.scheduler.server.port = self.scheduler.server.grpc.add_insecure_port("127.0.0.1:0")
        await self.scheduler.server.grpc.start()
        self.channel = AllowedCaller(f"127.0.0.1:{port}", self.settings.service_token())
        if not loops:
            assert not leads or await self.scheduler.lease.try_take()
        else:
            self.background = [asyncio.ensure_future(loop) for loop in self.scheduler.background()]

    async def knows_machines(self) -> None:
        """Waits until the scheduler knows every machine, as nothing is refused for want of one before."""
        assert self.scheduler
        inventory = self.scheduler.dated._inventory
        await until(lambda: inventory.is_complete)

    async def stop(self) -> None:
        """Ends everything abruptly; the other services hear no goodbye, as after SIGKILL."""
        if self.scheduler is None or self.database is None or self.channel is None:
            return
        for task in self.background:
            task.cancel()
        await asyncio.gather(*self.background, return_exceptions=True)
        await self.scheduler.close()
        await self.scheduler.server.grpc.stop(0)
        await self.channel.close()
        await self.database.close()
        self.scheduler = self.database = self.channel = None

    async def submit(self, key: str = "key", **changes: Any) -> scheduler_pb2.Job:
        return (await self.submitted(key, **changes)).job

    async def running(self, key: str = "key", **changes: Any) -> scheduler_pb2.Job:
        """A job whose run has begun."""
        job = await self.submit(key, **changes)
        await self.event(job.job_id, is_run("compiling"))
        return job

    def gate(self) -> asyncio.Event:
        """Runs compile, and go on once it is set."""
        gate = asyncio.Event()
        self.executor.script = (compiling(), gate, *PASSING[1:])
        return gate

    async def submitted(self, key: str = "key", **changes: Any) -> scheduler_pb2.SubmitJobResponse:
        request = scheduler_pb2.SubmitJobRequest(
            account_id=ACCOUNT, user_id=USER, spec=sound_spec(**changes), idempotency_key=key
        )
        return await self.api.SubmitJob(request, timeout=TIMEOUT_SECONDS)

    async def reserve(self, key: str = "key", **changes: Any) -> reservations_pb2.Reservation:
        request = reservations_pb2.CreateReservationRequest(
            account_id=ACCOUNT, user_id=USER, spec=sound_reservation(**changes), idempotency_key=key
        )
        return (await self.reservations.CreateReservation(request, timeout=TIMEOUT_SECONDS)).reservation

    async def opening(self, **changes: Any) -> reservations_pb2.Reservation:
        """A reservation whose session is being opened, and is not ready before the test says so."""
        self.sessions.opens = False
        reservation = await self.reserve(**changes)
        await self.sessions.opened.wait()
        return reservation

    async def availability(self, gpu_type: str = "MI300X") -> reservations_pb2.GpuAvailability:
        """What is free of a type, and what is expected of it."""
        request = reservations_pb2.GetAvailabilityRequest(gpu_type=gpu_type)
        (found,) = (await self.reservations.GetAvailability(request, timeout=TIMEOUT_SECONDS)).gpu_types
        return found

    async def reservation(self, reservation_id: str) -> reservations_pb2.Reservation:
        request = reservations_pb2.GetReservationRequest(account_ids=[ACCOUNT], reservation_id=reservation_id)
        return (await self.reservations.GetReservation(request, timeout=TIMEOUT_SECONDS)).reservation

    async def reservation_events(
        self, reservation_id: str, last: str = "ended"
    ) -> list[reservations_pb2.ReservationEvent]:
        """The events up to the first of a kind; all, if there is none of that."""
        request = reservations_pb2.WatchReservationRequest(account_ids=[ACCOUNT], reservation_id=reservation_id)
        events: list[reservations_pb2.ReservationEvent] = []
        async for answer in self.reservations.WatchReservation(request, timeout=TIMEOUT_SECONDS):
            events.append(answer.event)
            if last in {answer.event.WhichOneof("event"), answer.event.session.WhichOneof("event")}:
                break
        return events

    async def allowance(self) -> scheduler_pb2.Allowance:
        request = scheduler_pb2.GetAllowanceRequest(account_id=ACCOUNT)
        return (await self.api.GetAllowance(request, timeout=TIMEOUT_SECONDS)).allowance

    async def job(self, job_id: str) -> scheduler_pb2.Job:
        request = scheduler_pb2.GetJobRequest(account_ids=[ACCOUNT], job_id=job_id)
        return (await self.api.GetJob(request, timeout=TIMEOUT_SECONDS)).job

    async def cancel(self, job_id: str) -> scheduler_pb2.Job:
        request = scheduler_pb2.CancelJobRequest(account_ids=[ACCOUNT], job_id=job_id)
        return (await self.api.CancelJob(request, timeout=TIMEOUT_SECONDS)).job

    async def watch(self, job_id: str, after_seq: int = 0) -> AsyncGenerator[scheduler_pb2.JobEvent]:
        request = scheduler_pb2.WatchJobRequest(account_id=ACCOUNT, job_id=job_id, after_seq=after_seq)
        async for answer in self.api.WatchJob(request, timeout=TIMEOUT_SECONDS):
            yield answer.event

    async def events_to_end(self, job_id: str, after_seq: int = 0) -> list[scheduler_pb2.JobEvent]:
        return [event async for event in self.watch(job_id, after_seq)]

    async def event(
        self, job_id: str, wanted: Callable[[scheduler_pb2.JobEvent], bool], after_seq: int = 0
    ) -> scheduler_pb2.JobEvent:
        """The first event that matches."""
        async for event in self.watch(job_id, after_seq):
            if wanted(event):
                return event
        raise AssertionError("the job ended without that event")


def sound_reservation(**changes: Any) -> reservations_pb2.ReservationSpec:
    """One GPU for an hour, for a person with a key."""
    spec = reservations_pb2.ReservationSpec(
        **{"keys": [session_pb2.SessionKey(user="alice", public_key=KEY)], **changes}
    )
    if "duration" not in changes:
        spec.duration.FromSeconds(3600)
    return spec


def kinds(events: list[scheduler_pb2.JobEvent]) -> list[str]:
    """The names of the events; run events by their own name."""
    named: list[str] = []
    for event in events:
        kind = event.WhichOneof("event") or "unknown"
        named.append(event.run.WhichOneof("event") or "unknown" if kind == "run" else kind)
    return named


def is_run(kind: str) -> Callable[[scheduler_pb2.JobEvent], bool]:
    return lambda event: event.run.WhichOneof("event") == kind


def with_gpus(gpus: int) -> pytest.MarkDecorator:
    """The fixture `cluster` has a machine-2 with so many GPUs in place of machine-1; none if it is 0."""
    return pytest.mark.parametrize("cluster", [gpus], indirect=True)


async def until(happened: Callable[[], bool]) -> None:
    """Waits for a condition that has no event of its own."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not happened():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def scripted_cluster(data_dir: Path, **settings: Any) -> AsyncGenerator[Cluster]:
    """The other services, running; the scheduler is not started yet."""
    # Each answers only what the scheduler calls.
    executor = ScriptedExecutor()  # pyright: ignore[reportAbstractUsage]
    billing = ScriptedBilling()  # pyright: ignore[reportAbstractUsage]
    servers = [grpc.aio.server() for _ in range(3)]
    ports = [server.add_insecure_port("127.0.0.1:0") for server in servers]
    pool = ScriptedPool(f"127.0.0.1:{ports[0]}")  # pyright: ignore[reportAbstractUsage]
    sessions = ScriptedSessions()  # pyright: ignore[reportAbstractUsage]
    executor_pb2_grpc.add_ExecutorServiceServicer_to_server(executor, servers[0])
    session_pb2_grpc.add_SessionServiceServicer_to_server(sessions, servers[0])
    vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(pool, servers[1])
    billing_pb2_grpc.add_BillingServiceServicer_to_server(billing, servers[2])
    identity = ScriptedIdentity(billing)  # pyright: ignore[reportAbstractUsage]
    identity_pb2_grpc.add_IdentityServiceServicer_to_server(identity, servers[2])
    prices_pb2_grpc.add_PriceServiceServicer_to_server(billing, servers[2])
    alerts = ScriptedAlerts(billing)  # pyright: ignore[reportAbstractUsage]
    alerts_pb2_grpc.add_AlertServiceServicer_to_server(alerts, servers[2])
    for server in servers:
        await server.start()
    defaults: dict[str, Any] = {
        "port": 0,
        "data_dir": data_dir,
        "vmpool_target": f"127.0.0.1:{ports[1]}",
        "billing_target": f"127.0.0.1:{ports[2]}",
        "sweep_interval": timedelta(milliseconds=200),
        "poll_interval": timedelta(milliseconds=200),
        "reattach_window": timedelta(minutes=1),
    }
    cluster = Cluster(SchedulerSettings(**(defaults | settings)), pool, billing, executor, sessions)
    try:
        yield cluster
    finally:
        await cluster.stop()
        await executor.close()
        for server in servers:
            await server.stop(0)
