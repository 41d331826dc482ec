"""Builds the scheduler."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import grpc
from wavepool.scheduler.v1 import (
    disks_pb2_grpc,
    metrics_pb2_grpc,
    queues_pb2_grpc,
    rankings_pb2_grpc,
    reservations_pb2_grpc,
    scheduler_pb2_grpc,
)

from problems.kit.definition import CatalogueEntry
from problems.library.catalogue import Catalogue
from servicekit import logging
from servicekit.clock import Clock, SystemClock, new_id
from servicekit.db.act_store import ActStore
from servicekit.db.database import Database, migrate, open_database
from servicekit.db.leader_lease import LeaderLease, LeadershipLostError, WhileSure
from servicekit.loops import Loop, run_loop
from servicekit.rpc.audit import Audit
from servicekit.rpc.callers import Callers
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials, check_network, credentials_of
from servicekit.rpc.forwarding import ForwardToLeader
from servicekit.rpc.readings import MISSED_REPORTS, ReadingReporter
from servicekit.rpc.server import ServiceServer
from servicekit.settings.setting_names import warn_of_settings
from services.scheduler.config import SchedulerSettings
from services.scheduler.jobs import errors
from services.scheduler.jobs.allowance import SubmissionLimits
from services.scheduler.jobs.dated_limits import DatedLimits
from services.scheduler.jobs.reservation_checks import ReservationLimits
from services.scheduler.jobs.reservation_usage import UserLimits
from services.scheduler.jobs.run_history import DAY, DAYS_REMEMBERED
from services.scheduler.jobs.states import JobState
from services.scheduler.monitoring.pruner import AttemptPruner, JobPruner
from services.scheduler.monitoring.queue_monitor import QueueMonitor
from services.scheduler.peers.billing import Billing
from services.scheduler.peers.executors import Executors
from services.scheduler.peers.peers import Peers
from services.scheduler.peers.pool import Pool
from services.scheduler.queue.admission import Admission, AdmissionPolicy
from services.scheduler.queue.availability import AvailabilityReader
from services.scheduler.queue.borrowing import Borrowing
from services.scheduler.queue.dated_admission import LIMITS_INTERVAL, DatedAdmission
from services.scheduler.queue.dated_book import DatedBook
from services.scheduler.queue.demand import DemandReporter
from services.scheduler.queue.event_hub import EventHub
from services.scheduler.queue.explanation import Explainer
from services.scheduler.queue.forecast import Forecast
from services.scheduler.queue.inventory import Inventory
from services.scheduler.queue.maintenance_book import MaintenanceBook
from services.scheduler.queue.plugins import Orderings, Placements, SchedulerPlugins
from services.scheduler.queue.provisioning import ProvisioningReporter
from services.scheduler.queue.queue_book import QueueBook
from services.scheduler.queue.refusals import Refusals
from services.scheduler.queue.running import RunningJobs
from services.scheduler.queue.situations import Situations
from services.scheduler.queue.usage_book import UsageBook
from services.scheduler.queue.waiting import WaitingJobs
from services.scheduler.reservations.admission import ReservationAdmission
from services.scheduler.reservations.attempt.session_attempt import SessionAttempt
from services.scheduler.reservations.changes import ReservationChanges
from services.scheduler.reservations.dated_starter import DatedStarter
from services.scheduler.reservations.disk_pruner import DiskPruner
from services.scheduler.reservations.recalls import Recalls
from services.scheduler.reservations.service.disk_service import DiskServicer
from services.scheduler.reservations.service.reservation_service import ReservationServicer
from services.scheduler.runs.canceller import Canceller
from services.scheduler.runs.dispatcher import Dispatcher
from services.scheduler.runs.job_runner import JobRunner
from services.scheduler.runs.machine_follower import MachineFollower
from services.scheduler.runs.rescuer import Rescuer
from services.scheduler.runs.settler import Settler
from services.scheduler.runs.watcher import JobChanges, NotifiedEvents, UnannouncedEvents, UnreadChanges, Watcher
from services.scheduler.service.metrics_service import MetricsServicer
from services.scheduler.service.queue_service import QueueServicer
from services.scheduler.service.ranking_service import RankingServicer
from services.scheduler.service.scheduler_service import SchedulerServicer
from services.scheduler.store.attempt_reader import AttemptReader
from services.scheduler.store.build_store import BuildStore, SessionStores
from services.scheduler.store.disk_store import DiskStore
from services.scheduler.store.job_reader import JobReader
from services.scheduler.store.job_store import JobStore
from services.scheduler.store.maintenance_store import MaintenanceStore
from services.scheduler.store.old_jobs import Kept, OldJobs
from services.scheduler.store.queue_store import QueueStore
from services.scheduler.store.ranking_reader import RankingReader
from submissions.checks import UnknownProblemError

MIGRATIONS = "services.scheduler:migrations"
# Delay before a broken stream, of machines or of notifications, is opened again.
REFOLLOW_INTERVAL = timedelta(milliseconds=200)
USAGE_INTERVAL = timedelta(minutes=1)
"""Interval between two times that the use of queues is stored: so much may be forgotten when we are killed."""

ERROR_MAP: dict[type[Exception], grpc.StatusCode] = {
    errors.InvalidRequestError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownProblemError: grpc.StatusCode.NOT_FOUND,
    errors.JobNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NotComparableError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.ReservationNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.NotYoursError: grpc.StatusCode.PERMISSION_DENIED,
    errors.NotYourSubmissionError: grpc.StatusCode.PERMISSION_DENIED,
    errors.KeyOpensNothingError: grpc.StatusCode.NOT_FOUND,
    errors.DiskNotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.DiskExistsError: grpc.StatusCode.ALREADY_EXISTS,
    errors.DiskInUseError: grpc.StatusCode.ABORTED,
    errors.TooManyDisksError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.TooManyBuildsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.WrongReservationStateError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.MachineUnreachableError: grpc.StatusCode.UNAVAILABLE,
    errors.IdempotencyKeyReusedError: grpc.StatusCode.ALREADY_EXISTS,
    errors.PriorityNotAllowedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.ClassNotAllowedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.UnknownQueueError: grpc.StatusCode.NOT_FOUND,
    errors.QueueClosedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.QueueFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.QueueHasJobsError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.QueuesChangedError: grpc.StatusCode.ABORTED,
    errors.CreditRefusedError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.TooManyJobsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.TooManySubmissionsError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.TooMuchReservedError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.CalendarConflictError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.MaintenanceError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.CalendarUnreadyError: grpc.StatusCode.UNAVAILABLE,
    errors.BillingUnreachableError: grpc.StatusCode.UNAVAILABLE,
    errors.StoppingError: grpc.StatusCode.UNAVAILABLE,
    LeadershipLostError: grpc.StatusCode.UNAVAILABLE,
}


class Servicers(NamedTuple):
    """What the server serves."""

    scheduler: SchedulerServicer
    rankings: RankingServicer
    metrics: MetricsServicer
    queues: QueueServicer
    reservations: ReservationServicer
    disks: DiskServicer


class SchedulerServer(ServiceServer):
    """The gRPC server. On stop it ends the streams that follow jobs first: they would last as long as the jobs."""

    def __init__(
        self,
        settings: SchedulerSettings,
        servicers: Servicers,
        hubs: Sequence[EventHub],
        credentials: ServiceCredentials,
        callers: Callers,
        forwarding: ForwardToLeader,
        audit: Audit,
    ) -> None:
        super().__init__("scheduler", settings, ERROR_MAP, callers.identify, credentials.tls, [forwarding], audit)
        scheduler_pb2_grpc.add_SchedulerServiceServicer_to_server(servicers.scheduler, self.grpc)
        queues_pb2_grpc.add_QueueServiceServicer_to_server(servicers.queues, self.grpc)
        rankings_pb2_grpc.add_RankingServiceServicer_to_server(servicers.rankings, self.grpc)
        metrics_pb2_grpc.add_MetricsServiceServicer_to_server(servicers.metrics, self.grpc)
        self.expose("wavepool.scheduler.v1.SchedulerService")
        self.expose("wavepool.scheduler.v1.RankingService")
        self.expose("wavepool.scheduler.v1.MetricsService")
        self.expose("wavepool.scheduler.v1.QueueService")
        reservations_pb2_grpc.add_ReservationServiceServicer_to_server(servicers.reservations, self.grpc)
        self.expose("wavepool.scheduler.v1.ReservationService")
        disks_pb2_grpc.add_DiskServiceServicer_to_server(servicers.disks, self.grpc)
        self.expose("wavepool.scheduler.v1.DiskService")
        self._hubs = hubs
        self._forwarding = forwarding

    async def stop(self, drain: timedelta | None = None) -> None:
        """Stops serving; see ServiceServer."""
        for hub in self._hubs:
            hub.close()
        await super().stop(drain)
        await self._forwarding.close()


PRUNE_INTERVAL = timedelta(hours=1)
RUNS_READ = 1_000
"""The last runs, from which a new process knows how long runs take."""


@dataclass
class Scheduler:
    """All parts of a scheduler, wired together; the caller of `build` closes the database."""

    settings: SchedulerSettings
    clock: Clock
    lease: LeaderLease
    server: ServiceServer
    waiting: WaitingJobs
    dated: DatedBook
    forecast: Forecast
    reader: JobReader
    runner: JobRunner
    duties: list[tuple[Loop, timedelta, asyncio.Event | None]]
    """What only the leader does."""
    listening: list[tuple[Loop, timedelta]]
    executors: Executors
    channels: list[grpc.aio.Channel]
    plugins: SchedulerPlugins

    def background(self) -> list[Coroutine[object, object, None]]:
        """The work beside the server. It raises LeadershipLostError after another scheduler has taken over."""
        return [self._lead(), *[run_loop(loop, interval) for loop, interval in self.listening]]

    async def close(self) -> None:
        """Drops running jobs as they are, hands over to another scheduler, and closes the channels."""
        await self.runner.stop()
        await self.lease.release()
        await self.executors.close()
        await self.plugins.close()
        for channel in self.channels:
            await channel.close()

    async def _lead(self) -> None:
        self.lease.address = self.settings.address(self.server.port)
        if not await self.lease.try_take():
            await self.lease.taken()
            await learn(self.forecast, self.reader, self.clock)
        try:
            await self.lease.lead(
                *[run_loop(WhileSure(loop, self.lease), interval, wake) for loop, interval, wake in self.duties]
            )
        finally:
            # Not only when the server has stopped: until then, its last calls may take seconds.
            await self.runner.stop()


def _kept_of_jobs(settings: SchedulerSettings) -> dict[Kept, timedelta]:
    return {
        Kept.SOURCE: settings.sources_kept,
        Kept.EVENTS: settings.events_kept,
        Kept.RESULT: settings.results_kept,
    }


async def learn(forecast: Forecast, reader: JobReader, clock: Clock) -> None:
    """Tells the forecast of the last runs and reservations."""
    forecast.remember(await reader.run_times({JobState.FINISHED}, RUNS_READ))
    now = clock.now()
    recent = reader.reservations_between(now - (DAYS_REMEMBERED + 1) * DAY, now)
    forecast.remember_reservations([job async for job in recent])


async def build(  # noqa: PLR0915 - one statement for each part
    settings: SchedulerSettings,
    database: Database,
    problems: Mapping[str, CatalogueEntry],
    clock: Clock,
) -> Scheduler:
    """Builds a scheduler on a database whose schema is up to date; raises WrongSettingsError if a plug-in is wrong."""
    plugins = SchedulerPlugins(settings)
    await plugins.start()
    credentials = credentials_of(settings, "scheduler")
    vmpool_channel = open_channel(settings.vmpool_target, credentials, "vmpool")
    billing_channel = open_channel(settings.billing_target, credentials, "billing")
    hub, changes_hub, inventory = EventHub(), EventHub(), Inventory()
    lease = LeaderLease(database, "scheduler", settings.leader_term)
    queue_store = QueueStore(database)
    running, book = RunningJobs(), QueueBook(queue_store)
    orderings, placements = Orderings(book, plugins.orderings), Placements(book, plugins.placements)
    waiting = WaitingJobs(orderings.rank)
    book.order_listeners.append(waiting.reorder)
    maintenance = MaintenanceBook(MaintenanceStore(database), settings.maintenance, clock)
    usage = UsageBook(queue_store, settings.usage_half_life, clock)
    await book.run_once()
    await maintenance.run_once()
    store, reader = JobStore(database, hub.announce), JobReader(database)
    pool, billing, executors = (
        Pool(vmpool_channel),
        Billing(billing_channel, settings.longest_run),
        Executors(settings.longest_run, settings.reservation_grace),
    )
    dated = DatedBook(waiting, running, inventory, clock, settings.longest_run, settings.dated_share)
    situations = Situations(book, usage, waiting, running, inventory, clock, settings.longest_run, placements, dated)
    demand = DemandReporter(pool, waiting, inventory, dated.has_time)
    forecast = Forecast(
        waiting,
        running,
        inventory,
        clock,
        book,
        dated,
        situations.may_have_turn,
        demand.blocked,
        situations.waits_for_quota,
    )
    await learn(forecast, reader, clock)
    disks = DiskStore(database, settings.disk_snapshots, settings.disks_per_user)
    stores = SessionStores(disks, BuildStore(database))
    settler = Settler(store, billing, pool, running, forecast, clock)
    peers = Peers(pool, executors, billing)
    runner = JobRunner(
        store=store,
        peers=peers,
        settler=settler,
        waiting=waiting,
        running=running,
        inventory=inventory,
        forecast=forecast,
        clock=clock,
        settings=settings,
        session_of=partial(SessionAttempt, store=store, peers=peers, clock=clock, settings=settings, stores=stores),
    )
    provisioning = ProvisioningReporter(store, waiting, inventory, demand, forecast, clock)
    dispatcher = Dispatcher(
        store,
        pool,
        waiting,
        running,
        situations,
        runner,
        demand,
        provisioning,
        clock,
        settings,
    )
    rescuer = Rescuer(store, billing, runner, waiting, dated, clock, settings.submission_timeout)
    dated_limits = DatedLimits(
        settings.dated_most_ahead,
        settings.most_dated_of_user,
        settings.most_dated_gpus_of_user,
        settings.dated_start_within,
    )
    borrowing = Borrowing(book, situations, waiting, running, inventory, demand.blocked, clock)
    dated_admission = DatedAdmission(pool, dated, dated_limits, borrowing)
    refusals = Refusals(waiting, running, situations, placements, clock)
    explainer = Explainer(
        waiting,
        inventory,
        forecast,
        demand,
        situations,
        refusals,
        dated_admission,
        lambda: dispatcher.reasons,
        settings.longest_run,
        maintenance,
    )
    admission = Admission(
        store, billing, waiting, dated, book, forecast, clock, _policy(settings, problems), placements, explainer
    )
    canceller = Canceller(
        store=store,
        waiting=waiting,
        dated=dated,
        runner=runner,
        clock=clock,
        longest_run=settings.longest_run,
        explainer=explainer,
        impossible_after=settings.impossible_after,
    )
    watcher = Watcher(reader, hub)
    servicer = SchedulerServicer(
        store, reader, admission, canceller, watcher, JobChanges(reader, changes_hub), problems, billing
    )
    limits = ReservationLimits(
        settings.least_reservation,
        settings.longest_reservation,
        settings.longest_extended,
        settings.longest_reservation_wait,
        maintenance,
    )
    changes = ReservationChanges(
        store=store, reader=reader, waiting=waiting, dated=dated, runner=runner, clock=clock, limits=limits
    )
    starter = DatedStarter(dated, waiting, changes, clock, settings.dated_lead, settings.longest_run)
    reservations = ReservationServicer(
        admission=ReservationAdmission(
            admission=admission,
            reader=reader,
            billing=billing,
            book=book,
            forecast=forecast,
            clock=clock,
            limits=limits,
            user_limits=UserLimits(settings.most_reserved_gpus, settings.most_reserved_gpu_time),
            dated=dated_admission,
            stores=stores,
        ),
        store=store,
        reader=reader,
        waiting=waiting,
        changes=changes,
        canceller=canceller,
        watcher=watcher,
        forecast=forecast,
        availability=AvailabilityReader(
            billing,
            inventory,
            running,
            waiting,
            dated,
            dated_admission,
            forecast,
            clock,
            maintenance,
            explainer,
        ),
        clock=clock,
    )
    rankings = RankingServicer(store, RankingReader(database), billing, problems, clock)
    attempts = AttemptReader(database)
    monitor = QueueMonitor(waiting, inventory, demand, running, dated, attempts, clock, settings.metrics_window)
    report = partial(billing.report_readings, valid_for=MISSED_REPORTS * settings.metrics_interval)
    metrics = MetricsServicer(attempts, monitor, clock, settings.metrics_retention)
    queues = QueueServicer(store, book, billing, waiting, running, situations, explainer, orderings, placements)
    callers = Callers(credentials, billing.owner, others=settings.other_services().services)
    forwarding = ForwardToLeader(lease, credentials)
    disk_servicer = DiskServicer(disks, runner, clock, settings.disk_size << 20, settings.deleted_disks_kept)
    servicers = Servicers(servicer, rankings, metrics, queues, reservations, disk_servicer)
    audit = Audit(ActStore(database, clock, new_id), ERROR_MAP)
    server = SchedulerServer(settings, servicers, (hub, changes_hub), credentials, callers, forwarding, audit).on(
        database.watch
    )
    duties: list[tuple[Loop, timedelta, asyncio.Event | None]] = [
        (rescuer, settings.sweep_interval, None),
        (MachineFollower(pool, inventory, waiting, runner), REFOLLOW_INTERVAL, None),
        (dated_admission, LIMITS_INTERVAL, None),
        (canceller, settings.poll_interval, None),
        (starter, settings.poll_interval, None),
        (Recalls(borrowing, book, running, runner), settings.sweep_interval, None),
        (dispatcher, settings.poll_interval, waiting.changed),
        (ReadingReporter(monitor.readings, report), settings.metrics_interval, None),
        (AttemptPruner(attempts, settings.metrics_retention, clock), PRUNE_INTERVAL, None),
        (JobPruner(OldJobs(database), _kept_of_jobs(settings), clock), PRUNE_INTERVAL, None),
        (DiskPruner(disks, settings.deleted_disks_kept, clock), PRUNE_INTERVAL, None),
        (usage, USAGE_INTERVAL, None),
    ]
    listening: list[tuple[Loop, timedelta]] = [
        (UnannouncedEvents(reader, hub), settings.poll_interval),
        (UnreadChanges(reader, changes_hub), settings.poll_interval),
        (book, settings.sweep_interval),
        (maintenance, settings.sweep_interval),
    ]
    if database.dialect_name == "postgresql":
        listening.append((NotifiedEvents(reader, hub, lease), REFOLLOW_INTERVAL))
    channels = [vmpool_channel, billing_channel]
    return Scheduler(
        settings,
        clock,
        lease,
        server,
        waiting,
        dated,
        forecast,
        reader,
        runner,
        duties,
        listening,
        executors,
        channels,
        plugins,
    )


def _policy(settings: SchedulerSettings, problems: Mapping[str, CatalogueEntry]) -> AdmissionPolicy:
    known = {slug: entry.problem for slug, entry in problems.items()}
    limits = SubmissionLimits(settings.max_jobs_in_flight, settings.max_submissions_per_hour)
    return AdmissionPolicy(known, limits, settings.longest_run, settings.gpu_names)


def checked_settings() -> SchedulerSettings:
    """The settings; raises ValidationError, TlsFilesError, OpenToOthersError or WrongSettingsError."""
    settings = SchedulerSettings()
    SchedulerPlugins(settings)
    check_network(settings, "scheduler")
    return settings


async def main() -> None:
    """Serves until SIGTERM or SIGINT, as leader or follower; raises SystemExit if another process has taken over."""
    settings = checked_settings()
    logging.configure("scheduler", settings.log_level)
    warn_of_settings(logging.get_logger(__name__))
    problems = Catalogue.load(settings.problems_dir).problems
    database = open_database(settings, "scheduler")
    try:
        await migrate(database, MIGRATIONS)
        scheduler = await build(settings, database, problems, SystemClock())
        try:
            await scheduler.server.run_until_signalled(*scheduler.background())
        except LeadershipLostError as error:
            # All that this process has in memory is of before. A new one begins as a follower.
            raise SystemExit(f"scheduler: {error}") from error
        finally:
            await scheduler.close()
    finally:
        await database.close()
