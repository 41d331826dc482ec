"""Builds the vmpool service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import grpc
from wavepool.billing.v1 import identity_pb2, identity_pb2_grpc
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from servicekit import logging
from servicekit.clock import Clock, SystemClock, new_id
from servicekit.db import database
from servicekit.db.act_store import ActStore
from servicekit.db.backup import Facts
from servicekit.db.leader_lease import DatabaseTakenError, LeaderLease, LeadershipLostError, WhileSure
from servicekit.feed import Feed
from servicekit.loops import Loop, run_loop
from servicekit.metrics import serve_metrics
from servicekit.rpc.audit import Audit
from servicekit.rpc.callers import Callers, Owner, if_found
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import check_network, credentials_of
from servicekit.rpc.errors import ErrorMap
from servicekit.rpc.readings import MISSED_REPORTS, ReadingReporter
from servicekit.rpc.server import ServiceServer, WrongSettingsError
from servicekit.settings.plugins import BrokenPluginError, UnknownPluginError
from servicekit.settings.sandbox_settings import SandboxSettings
from servicekit.settings.setting_names import warn_of_settings
from services.vmpool import errors, metrics
from services.vmpool.capacity.funding import CALL_SECONDS, BillingFunding, Funding
from services.vmpool.capacity.lease_acquisition import LeaseAcquisition
from services.vmpool.capacity.offer_board import OfferBoard
from services.vmpool.capacity.requesting import Requesting
from services.vmpool.capacity.scope_checks import check_preferences
from services.vmpool.capacity.sizer import Sizer
from services.vmpool.config import VmPoolSettings
from services.vmpool.lifecycle.driver import MachineDriver
from services.vmpool.lifecycle.executor_client import ExecutorClient, Executors
from services.vmpool.lifecycle.health_book import HealthBook
from services.vmpool.lifecycle.load_book import LoadBook
from services.vmpool.lifecycle.machine_poller import MachinePoller
from services.vmpool.lifecycle.orphans import Orphans
from services.vmpool.lifecycle.pruner import Pruner
from services.vmpool.lifecycle.reconciler import Reconciler
from services.vmpool.lifecycle.record import Record
from services.vmpool.lifecycle.releaser import Releaser
from services.vmpool.lifecycle.tunnels import Tunnels
from services.vmpool.machines.machine_token import MachineTokens
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.providers.plugins import PoolContext, open_providers
from services.vmpool.providers.provider_set import ProviderSet
from services.vmpool.service import VmPoolServicer
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.history_store import HistoryStore
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.store.pace_store import PaceStore
from services.vmpool.store.usage_store import UsageStore
from services.vmpool.telemetry.log_reader import LogReader
from services.vmpool.telemetry.pool_monitor import PoolMonitor, reading_sender
from services.vmpool.telemetry.usage_reporter import UsageReporter
from services.vmpool.telemetry.watching import Watching

log = logging.get_logger(__name__)

MIGRATIONS = "services.vmpool:migrations"
USAGE_PASS = timedelta(seconds=5)
"""Time between two looks for facts to write down and send; a machine's own interval is a setting."""
PRUNE_PASS = timedelta(hours=1)
TUNNEL_PASS = timedelta(seconds=1)
"""A tunnel ends this long after its lease, at most; the gateway's users were promised 5 s."""

ERROR_MAP: ErrorMap = {
    errors.InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NoCapacityError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.SlotTakenError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.MachineNotReadyError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ReservedMachineError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoOfferError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.PoolLimitError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.RequestConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.LeaseConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.LeaseEndedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.IllegalMoveError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.StaleMachineError: grpc.StatusCode.ABORTED,
    errors.ProviderUnreachableError: grpc.StatusCode.UNAVAILABLE,
    errors.SessionRefusedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.SessionUnreachableError: grpc.StatusCode.UNAVAILABLE,
    errors.TooManyTunnelsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    LeadershipLostError: grpc.StatusCode.UNAVAILABLE,
}


@dataclass(frozen=True)
class VmPool:
    """The parts of the service, so that tests can take steps one by one."""

    server: ServiceServer
    pool: VmPoolServicer
    reconciler: Reconciler
    sizer: Sizer
    usage: UsageReporter
    pruner: Pruner
    readings: ReadingReporter
    wakes: tuple[asyncio.Event, asyncio.Event]

    async def run(self, settings: VmPoolSettings, lease: LeaderLease) -> None:
        """Serve, and run the loops while `lease` is ours, until SIGTERM or SIGINT.

        A change of a machine wakes reconciler and sizer.
        """
        loops: list[tuple[Loop, timedelta, asyncio.Event | None]] = [
            (self.reconciler, settings.reconcile_interval, self.wakes[0]),
            (self.sizer, settings.reconcile_interval, self.wakes[1]),
            (self.usage, USAGE_PASS, None),
            (self.pruner, PRUNE_PASS, None),
            (self.pool.tunnels, TUNNEL_PASS, None),
            (self.readings, settings.metrics_interval, None),
            (self.pool.providers, settings.reconcile_interval, None),
        ]
        await self.reconciler.look_around()
        await self.server.run_until_signalled(
            *[run_loop(WhileSure(loop, lease), interval, wake) for loop, interval, wake in loops]
        )

    async def close(self) -> None:
        """Stop the machines that end with the pool, and report it to billing if billing is still there."""
        await self.reconciler.close()
        await self.usage.run_once()


def configured_providers(settings: VmPoolSettings) -> ProviderSet:
    """The providers that the settings name; raises UnknownPluginError or BrokenPluginError."""
    context = PoolContext(
        pool_name=settings.pool_name,
        data_dir=settings.data_dir,
        gpu_types=settings.gpu_types,
        idle_timeout=settings.idle_timeout,
        offers=settings.offers(),
        gpu_counts=settings.gpus_per_machine,
    )
    return open_providers(settings.providers, context)


@asynccontextmanager
async def build(  # noqa: PLR0915 - one statement for each part
    settings: VmPoolSettings,
    db: database.Database,
    providers: ProviderSet,
    executors: Executors,
    clock: Clock,
    funding: Funding | None = None,
) -> AsyncGenerator[VmPool]:
    """Build the service on a migrated database, by default funded by billing; connections are closed at the end."""
    events, moves = Feed(), Feed()
    machines, leases = MachineStore(db, clock, events, moves), LeaseStore(db, clock, events, new_id)
    history, usage_store, paces = HistoryStore(db), UsageStore(db, clock), PaceStore(db, clock)
    tokens, limits, demand = (
        MachineTokens(settings.resolved_secret()),
        settings.limits(),
        DemandBoard(settings.demand_lifetime),
    )
    async with AsyncExitStack() as stack:
        credentials = credentials_of(settings, "vmpool")
        billing = await stack.enter_async_context(open_channel(settings.billing_target, credentials, "billing"))
        owner = partial(_owner, identity_pb2_grpc.IdentityServiceStub(billing))
        callers = Callers(credentials, owner, others=settings.other_services().services)
        audit = Audit(ActStore(db, clock, new_id), ERROR_MAP)
        server = ServiceServer("vmpool", settings, ERROR_MAP, callers.identify, credentials.tls, audit=audit).on(
            db.watch
        )
        offers = OfferBoard(providers, settings.offer_times(), clock)
        stack.push_async_callback(offers.close)
        funding = funding or BillingFunding(usage_store, billing, clock)
        sizer = Sizer(providers, machines, demand, paces, offers, funding, tokens, limits, clock, new_id)
        health, loads = (
            HealthBook(settings.heartbeat_interval, settings.lost_after, settings.reserved_lost_after),
            LoadBook(settings.metrics_window),
        )
        record, poller, tunnels = Record(machines), MachinePoller(providers), Tunnels(leases, machines, clock)
        for part in (poller, tunnels):
            stack.push_async_callback(part.close)
        releaser = Releaser(providers, record, poller, clock)
        driver = MachineDriver(machines, leases, record, providers, poller, releaser, executors, health, loads, clock)
        orphans = Orphans(machines, providers, tokens, settings.strangers, clock)
        wakes = (stack.enter_context(moves.follow()), stack.enter_context(moves.follow()))
        reconciler = Reconciler(machines, leases, providers, driver, orphans, wakes[0])
        pool = VmPoolServicer(
            settings=settings,
            machines=machines,
            leases=leases,
            history=history,
            leasing=LeaseAcquisition(leases, demand, sizer, clock),
            demand=demand,
            sizer=sizer,
            watching=Watching(EventLog(db), events),
            requesting=Requesting(sizer, machines, offers, funding, providers, settings, clock),
            logs=LogReader(machines, providers),
            tunnels=tunnels,
            providers=providers,
            clock=clock,
        )
        usage, pruner = (
            UsageReporter(usage_store, billing, settings.usage_interval),
            Pruner(history, settings.history_duration, clock),
        )
        monitor = PoolMonitor(machines, sizer, demand, loads, providers, limits.max_machines, clock)
        readings = ReadingReporter(
            monitor.readings, reading_sender(billing, MISSED_REPORTS * settings.metrics_interval)
        )
        vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(pool, server.grpc)
        server.expose("wavepool.vmpool.v1.VmPoolService")
        yield VmPool(server, pool, reconciler, sizer, usage, pruner, readings, wakes)


async def _owner(identity: identity_pb2_grpc.IdentityServiceAsyncStub, token: str) -> Owner | None:
    request = identity_pb2.AuthenticateTokenRequest(token=token)
    return await if_found(identity.AuthenticateToken(request, timeout=CALL_SECONDS))


def checked_providers(settings: VmPoolSettings) -> ProviderSet:
    """The providers, if their settings and ours are right; raises WrongSettingsError or ValidationError."""
    SandboxSettings()
    try:
        providers = configured_providers(settings)
        check_preferences(settings.backends, settings.gpus_per_machine[0], providers)
    except (UnknownPluginError, BrokenPluginError, errors.InvalidFieldError) as error:
        raise WrongSettingsError(f"vmpool: {error}") from error
    return providers


def check_settings() -> None:
    """Raises WrongSettingsError, ValidationError, TlsFilesError or OpenToOthersError if `main` would not serve."""
    settings = VmPoolSettings()
    check_network(settings, "vmpool")
    checked_providers(settings)


async def end_leases(db: database.Database, told: Facts) -> Facts:
    """Ends the leases of a restored database: what runs on the machines now is not what it says."""
    return told | {"machines": await LeaseStore(db, SystemClock(), Feed(), new_id).restored()}


async def main() -> None:
    """Serve until SIGTERM or SIGINT, then stop the machines that end with the pool.

    Raises as `check_settings`, and SystemExit if the database or a provider keeps us from starting.
    """
    settings = VmPoolSettings()
    check_network(settings, "vmpool")
    logging.configure("vmpool", settings.log_level)
    warn_of_settings(log)
    try:
        await serve(settings, checked_providers(settings))
    except (DatabaseTakenError, LeadershipLostError, errors.InvalidFieldError, errors.ProviderError) as error:
        raise SystemExit(f"vmpool: {error}") from error


async def serve(settings: VmPoolSettings, providers: ProviderSet) -> None:
    """Serve with these providers, as the only process that serves the database.

    On PostgreSQL a second one is a spare, and waits until the first ends. On SQLite, whose file is on one host, it is a
    mistake: it waits for a first that is ending, and gives up.
    """
    db = database.open_database(settings, "vmpool")
    try:
        await database.migrate(db, MIGRATIONS)
        lease = LeaderLease(db, "vmpool", settings.leader_term)
        timeout = settings.takeover_timeout if db.dialect_name == "sqlite" else None
        async with lease.held(timeout, _spare(settings)):
            await lease.lead(_serve_on(db, settings, providers, lease))
    finally:
        await db.close()


@contextmanager
def _spare(settings: VmPoolSettings) -> Generator[None]:
    """Serve metrics alone: callers go to the process that leads, and health checks see a spare that waits."""
    _, stop = serve_metrics(settings.host, settings.resolved_metrics_port())
    metrics.spare.set(1)
    try:
        yield
    finally:
        metrics.spare.set(0)
        stop()


async def _serve_on(
    db: database.Database, settings: VmPoolSettings, providers: ProviderSet, lease: LeaderLease
) -> None:
    executors = ExecutorClient(settings.heartbeat_interval, settings.machine_network)
    try:
        async with providers, build(settings, db, providers, executors, SystemClock()) as vmpool:
            try:
                await vmpool.run(settings, lease)
            finally:
                # After a take-over, the machines belong to the other process.
                if not lease.is_lost:
                    await vmpool.close()
    finally:
        await executors.close()
