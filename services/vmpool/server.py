"""Builds the vmpool service."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
from wavepool.vmpool.v1 import vmpool_pb2_grpc

from servicekit import database, logging
from servicekit.channels import open_channel
from servicekit.clock import SystemClock, new_id
from servicekit.loops import run_loop
from servicekit.plugins import BrokenPluginError, UnknownPluginError
from servicekit.server import ServiceServer
from services.vmpool import errors
from services.vmpool.config import VmPoolSettings
from services.vmpool.feed import Feed
from services.vmpool.keeping.driver import MachineDriver, Senses
from services.vmpool.keeping.executor_client import ExecutorClient
from services.vmpool.keeping.health_book import HealthBook
from services.vmpool.keeping.pruner import Pruner
from services.vmpool.keeping.reconciler import Reconciler
from services.vmpool.keeping.strangers import Strangers
from services.vmpool.machines.machine_token import MachineTokens
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.providers.plugins import PoolContext, open_providers
from services.vmpool.reporting.log_reader import LogReader
from services.vmpool.reporting.usage_reporter import UsageReporter
from services.vmpool.reporting.watching import Watching
from services.vmpool.service import Pool, VmPoolServicer
from services.vmpool.store.event_log import EventLog
from services.vmpool.store.history_store import HistoryStore
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.store.pace_store import PaceStore
from services.vmpool.store.usage_store import UsageStore
from services.vmpool.supplying.funding import BillingFunding
from services.vmpool.supplying.leasing import Leasing
from services.vmpool.supplying.offer_board import OfferBoard
from services.vmpool.supplying.requesting import Requesting
from services.vmpool.supplying.sizer import Facts, Sizer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator

    from servicekit.clock import Clock
    from servicekit.errors import ErrorMap
    from services.vmpool.keeping.executor_client import Executors
    from services.vmpool.providers.provider_set import ProviderSet
    from services.vmpool.supplying.funding import Funding

log = logging.get_logger(__name__)

USAGE_PASS = timedelta(seconds=5)
"""Between two looks for facts to write down and send; a machine's own interval is a setting."""
PRUNE_PASS = timedelta(hours=1)

ERROR_MAP: ErrorMap = {
    errors.InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NoCapacityError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.NoOfferError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.PoolLimitError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.RequestConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.LeaseConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.LeaseEndedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.IllegalMoveError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.StaleMachineError: grpc.StatusCode.ABORTED,
    errors.ProviderUnreachableError: grpc.StatusCode.UNAVAILABLE,
}


@dataclass(frozen=True)
class VmPool:
    """The service in parts, so that tests can take steps one by one."""

    server: ServiceServer
    pool: Pool
    reconciler: Reconciler
    sizer: Sizer
    usage: UsageReporter
    pruner: Pruner
    wakes: tuple[asyncio.Event, asyncio.Event]

    async def run(self, settings: VmPoolSettings) -> None:
        """Serve, with the loops beside, until SIGTERM or SIGINT; a machine's move wakes reconciler and sizer."""
        reconciler_wake, sizer_wake = self.wakes
        await self.reconciler.look_around()
        await self.server.run_until_signalled(
            run_loop(self.reconciler, settings.reconcile_interval, reconciler_wake),
            run_loop(self.sizer, settings.reconcile_interval, sizer_wake),
            run_loop(self.usage, USAGE_PASS),
            run_loop(self.pruner, PRUNE_PASS),
        )

    async def close(self) -> None:
        """Stop the machines that end with the pool, and tell billing so if it is still there."""
        await self.reconciler.close()
        await self.usage.run_once()


def configured_providers(settings: VmPoolSettings) -> ProviderSet:
    """The providers that the settings name; raises UnknownPluginError, BrokenPluginError."""
    context = PoolContext(settings.pool_name, settings.data_dir, settings.gpu_types, settings.idle_timeout)
    return open_providers(settings.providers, context)


@asynccontextmanager
async def build(
    settings: VmPoolSettings,
    db: database.Database,
    providers: ProviderSet,
    executors: Executors,
    clock: Clock,
    funding: Funding | None = None,
) -> AsyncGenerator[VmPool]:
    """The service on a database with its schema, by default funded by billing; connections are closed at the end."""
    events, moves = Feed(), Feed()
    machines = MachineStore(db, clock, events, moves)
    leases = LeaseStore(db, clock, events, new_id)
    demand = DemandBoard(settings.demand_lifetime)
    offers = OfferBoard(providers, settings.offer_times(), clock)
    async with AsyncExitStack() as stack:
        billing = await stack.enter_async_context(open_channel(settings.billing_target))
        stack.push_async_callback(offers.close)
        funding = funding or BillingFunding(UsageStore(db, clock), billing, clock)
        tokens = MachineTokens(settings.resolved_secret())
        facts = Facts(machines, demand, PaceStore(db, clock), offers, funding, tokens)
        sizer = Sizer(facts, settings.limits(), clock, new_id)
        pruner = Pruner(HistoryStore(db), settings.history_duration, clock)
        wakes = (stack.enter_context(moves.follow()), stack.enter_context(moves.follow()))
        senses = Senses(providers, executors, HealthBook(settings.heartbeat_interval, settings.lost_after))
        driver = MachineDriver(machines, leases, senses, clock)
        stack.push_async_callback(driver.close)
        strangers = Strangers(machines, providers, tokens, settings.strangers, clock)
        reconciler = Reconciler(machines, leases, providers, driver, strangers, wakes[0])
        usage = UsageReporter(UsageStore(db, clock), billing, settings.usage_interval)
        leasing = Leasing(leases, demand, sizer, clock)
        watching = Watching(EventLog(db), events)
        requesting = Requesting(sizer, settings, providers.names, clock)
        logs = LogReader(machines, providers)
        pool = Pool(settings, machines, leases, leasing, demand, sizer, watching, requesting, logs, providers, clock)
        server = ServiceServer("vmpool", settings, ERROR_MAP)
        vmpool_pb2_grpc.add_VmPoolServiceServicer_to_server(VmPoolServicer(pool), server.grpc)
        server.expose("wavepool.vmpool.v1.VmPoolService")
        yield VmPool(server, pool, reconciler, sizer, usage, pruner, wakes)


async def main() -> None:
    """Serve until SIGTERM or SIGINT, then stop what ends with the pool; SystemExit where a provider cannot be had."""
    settings = VmPoolSettings()
    logging.configure("vmpool", settings.log_level)
    try:
        providers = configured_providers(settings)
        async with providers:
            await serve(settings, providers)
    except (UnknownPluginError, BrokenPluginError, errors.ProviderError) as error:
        raise SystemExit(f"vmpool: {error}") from error


async def serve(settings: VmPoolSettings, providers: ProviderSet) -> None:
    """Serve with started providers."""
    db = database.Database(settings.resolved_database_url("vmpool"))
    executors = ExecutorClient(settings.heartbeat_interval)
    try:
        await database.migrate(db, "services.vmpool:migrations")
        async with build(settings, db, providers, executors, SystemClock()) as vmpool:
            try:
                await vmpool.run(settings)
            finally:
                await vmpool.close()
    finally:
        await executors.close()
        await db.close()
