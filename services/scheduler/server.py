"""Builds the scheduler."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import grpc
from wavepool.scheduler.v1 import metrics_pb2_grpc, queues_pb2_grpc, rankings_pb2_grpc, scheduler_pb2_grpc

from problems.library.catalogue import Catalogue
from servicekit import logging
from servicekit.clock import Clock, SystemClock
from servicekit.db.database import Database, migrate
from servicekit.loops import Loop, run_loop
from servicekit.rpc.callers import Callers
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import check_network, credentials_of
from servicekit.rpc.readings import MISSED_REPORTS, ReadingReporter
from servicekit.rpc.server import ServiceServer
from servicekit.settings.setting_names import warn_of_settings
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs import errors
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.job import JobState
from services.scheduler.monitoring.pruner import AttemptPruner
from services.scheduler.monitoring.queue_monitor import QueueMonitor
from services.scheduler.peers.billing import Billing
from services.scheduler.peers.executors import Executors
from services.scheduler.peers.pool import Pool
from services.scheduler.queue.admission import Admission, AdmissionPolicy
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.event_hub import EventHub
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.provisioning import ProvisioningReporter
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.runs.canceller import Canceller
from services.scheduler.runs.dispatcher import Dispatcher
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.runs.machine_follower import MachineFollower
from services.scheduler.runs.rescuer import Rescuer
from services.scheduler.runs.settler import Settler
from services.scheduler.runs.watcher import UnannouncedEvents, Watcher
from services.scheduler.service.metrics_service import MetricsServicer
from services.scheduler.service.queue_service import QueueServicer
from services.scheduler.service.ranking_service import RankingServicer
from services.scheduler.service.scheduler_service import SchedulerServicer
from services.scheduler.store.attempt_reader import AttemptReader
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.queue_store import QueueStore
from services.scheduler.store.ranking_reader import RankingReader
from submissions.checks import UnknownProblemError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine, Mapping

    from problems.kit.definition import CatalogueEntry
    from servicekit.rpc.credentials import ServiceCredentials

MIGRATIONS = "services.scheduler:migrations"
# Delay before a broken stream of machines is opened again.
REFOLLOW_INTERVAL = timedelta(milliseconds=200)
USAGE_INTERVAL = timedelta(minutes=1)
"""Interval between two times that the use of queues is stored: so much may be forgotten when we are killed."""

ERROR_MAP: dict[type[Exception], grpc.StatusCode] = {
    errors.InvalidRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownProblemError: grpc.StatusCode.NOT_FOUND,
    errors.JobNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NotComparableError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.IdempotencyKeyReusedError: grpc.StatusCode.ALREADY_EXISTS,
    errors.PriorityNotAllowedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.UnknownQueueError: grpc.StatusCode.NOT_FOUND,
    errors.QueueClosedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.QueueFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.QueueHasJobsError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.QueuesChangedError: grpc.StatusCode.ABORTED,
    errors.CreditRefusedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.TooManyJobsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.TooManySubmissionsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.BillingUnreachableError: grpc.StatusCode.UNAVAILABLE,
    errors.StoppingError: grpc.StatusCode.UNAVAILABLE,
}


class SchedulerServer(ServiceServer):
    """The gRPC server. On stop it ends the streams that follow jobs first: they would last as long as the jobs."""

    def __init__(
        self,
        settings: SchedulerSettings,
        servicer: SchedulerServicer,
        rankings: RankingServicer,
        metrics: MetricsServicer,
        queues: QueueServicer,
        hub: EventHub,
        credentials: ServiceCredentials,
        callers: Callers,
    ) -> None:
        super().__init__("scheduler", settings, ERROR_MAP, callers.identify, credentials.tls)
        scheduler_pb2_grpc.add_SchedulerServiceServicer_to_server(servicer, self.grpc)
        queues_pb2_grpc.add_QueueServiceServicer_to_server(queues, self.grpc)
        rankings_pb2_grpc.add_RankingServiceServicer_to_server(rankings, self.grpc)
        metrics_pb2_grpc.add_MetricsServiceServicer_to_server(metrics, self.grpc)
        self.expose("wavepool.scheduler.v1.SchedulerService")
        self.expose("wavepool.scheduler.v1.RankingService")
        self.expose("wavepool.scheduler.v1.MetricsService")
        self.expose("wavepool.scheduler.v1.QueueService")
        self._hub = hub

    async def stop(self, drain: timedelta | None = None) -> None:
        """Stops serving; see ServiceServer."""
        self._hub.close()
        await super().stop(drain)


PRUNE_INTERVAL = timedelta(hours=1)
RUNS_READ = 1_000
"""The last runs, from which a new process knows how long runs take."""


@dataclass
class Scheduler:
    """All parts of a scheduler, wired together; the caller of `build` closes the database."""

    server: ServiceServer
    waiting: WaitingJobs
    runner: JobRunner
    duties: list[tuple[Loop, timedelta, asyncio.Event | None]]
    executors: Executors
    channels: list[grpc.aio.Channel]

    def background(self) -> list[Coroutine[object, object, None]]:
        """The loops that run beside the server."""
        return [run_loop(loop, interval, wake) for loop, interval, wake in self.duties]

    async def close(self) -> None:
        """Drops running jobs as they are and closes the channels."""
        await self.runner.stop()
        await self.executors.close()
        for channel in self.channels:
            await channel.close()


async def build(
    settings: SchedulerSettings,
    database: Database,
    problems: Mapping[str, CatalogueEntry],
    clock: Clock,
) -> Scheduler:
    """Builds a scheduler on a database whose schema is up to date."""
    credentials = credentials_of(settings, "scheduler")
    vmpool_channel = open_channel(settings.vmpool_target, credentials, "vmpool")
    billing_channel = open_channel(settings.billing_target, credentials, "billing")
    hub, waiting, inventory = EventHub(), WaitingJobs(settings.waiting_per_priority_point), Inventory()
    queue_store = QueueStore(database)
    running, book = RunningJobs(), QueueBook(queue_store)
    usage = UsageBook(queue_store, settings.usage_half_life, clock)
    await book.run_once()
    await usage.run_once()
    store, reader = JobStore(database, hub.announce), JobReader(database)
    pool, billing, executors = (
        Pool(vmpool_channel),
        Billing(billing_channel, settings.longest_run),
        Executors(settings.longest_run),
    )
    forecast = Forecast(waiting, running, inventory, clock)
    forecast.remember(await reader.run_times({JobState.FINISHED}, RUNS_READ))
    settler = Settler(store, billing, pool, running, forecast, clock)
    runner = JobRunner(store, pool, executors, settler, waiting, running, inventory, forecast, clock, settings)
    demand = DemandReporter(pool, waiting)
    provisioning = ProvisioningReporter(store, waiting, inventory, forecast, clock)
    situations = Situations(book, usage, waiting, running, inventory, clock)
    dispatcher = Dispatcher(
        store, pool, waiting, running, situations, runner, demand, provisioning, clock, settings.lease_duration
    )
    rescuer = Rescuer(store, billing, runner, waiting, clock, settings.submission_timeout)
    admission = Admission(store, billing, waiting, book, forecast, clock, _policy(settings, problems))
    canceller = Canceller(store, waiting, runner, clock)
    servicer = SchedulerServicer(store, reader, admission, canceller, Watcher(reader, hub), problems)
    rankings = RankingServicer(store, RankingReader(database), billing, problems)
    attempts = AttemptReader(database)
    monitor = QueueMonitor(waiting, inventory, demand, running, attempts, clock, settings.metrics_window)
    report = partial(billing.report_readings, valid_for=MISSED_REPORTS * settings.metrics_interval)
    metrics = MetricsServicer(attempts, monitor, clock, settings.metrics_retention)
    explainer = Explainer(waiting, running, inventory, forecast, demand, situations, lambda: dispatcher.reasons)
    queues = QueueServicer(store, book, billing, waiting, running, dispatcher, explainer)
    callers = Callers(credentials, billing.owner)
    server = SchedulerServer(settings, servicer, rankings, metrics, queues, hub, credentials, callers)
    duties: list[tuple[Loop, timedelta, asyncio.Event | None]] = [
        (rescuer, settings.sweep_interval, None),
        (MachineFollower(pool, inventory, waiting, runner), REFOLLOW_INTERVAL, None),
        (dispatcher, settings.poll_interval, waiting.changed),
        (UnannouncedEvents(reader, hub), settings.poll_interval, None),
        (ReadingReporter(monitor.readings, report), settings.metrics_interval, None),
        (AttemptPruner(attempts, settings.metrics_retention, clock), PRUNE_INTERVAL, None),
        (book, settings.sweep_interval, None),
        (usage, USAGE_INTERVAL, None),
    ]
    return Scheduler(server, waiting, runner, duties, executors, [vmpool_channel, billing_channel])


def _policy(settings: SchedulerSettings, problems: Mapping[str, CatalogueEntry]) -> AdmissionPolicy:
    known = {slug: entry.problem for slug, entry in problems.items()}
    limits = SubmissionLimits(settings.max_jobs_in_flight, settings.max_submissions_per_hour)
    return AdmissionPolicy(known, limits, settings.longest_run)


def checked_settings() -> SchedulerSettings:
    """The settings; raises ValidationError, TlsFilesError or OpenToOthersError if they are wrong."""
    settings = SchedulerSettings()
    check_network(settings, "scheduler")
    return settings


async def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = checked_settings()
    logging.configure("scheduler", settings.log_level)
    warn_of_settings(logging.get_logger(__name__))
    problems = Catalogue.load(settings.problems_dir).problems
    database = Database(settings.resolved_database_url("scheduler"))
    try:
        await migrate(database, MIGRATIONS)
        scheduler = await build(settings, database, problems, SystemClock())
        try:
            await scheduler.server.run_until_signalled(*scheduler.background())
        finally:
            await scheduler.close()
    finally:
        await database.close()
