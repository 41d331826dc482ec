"""Builds the billing service."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
from wavepool.billing.v1 import (
    alerts_pb2_grpc,
    billing_pb2_grpc,
    identity_pb2_grpc,
    prices_pb2_grpc,
    projections_pb2_grpc,
    reports_pb2_grpc,
    sign_in_pb2_grpc,
)

from servicekit import logging
from servicekit.clock import Clock, SystemClock, new_id
from servicekit.db import database
from servicekit.db.act_store import ActStore
from servicekit.db.backup import Facts
from servicekit.loops import run_loop
from servicekit.rpc.audit import Audit
from servicekit.rpc.callers import Callers, Owner
from servicekit.rpc.credentials import check_network, credentials_of
from servicekit.rpc.errors import ErrorMap
from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import WrongSettingsError
from servicekit.settings.plugins import BrokenPluginError, PluginLives
from servicekit.settings.setting_names import warn_of_settings
from services.billing import errors
from services.billing.alerts.alert_watch import FORGETTING, AlertWatch
from services.billing.alerts.channels.plugins import lives_of, open_channels
from services.billing.alerts.delivery import DELIVERY_PASS, DeliveryLoop, send_alert
from services.billing.alerts.evaluator import Evaluator
from services.billing.alerts.money_source import MoneySource
from services.billing.alerts.notice_mail import delivery_of, open_notice_mail
from services.billing.bootstrap import Bootstrap
from services.billing.config import BillingSettings
from services.billing.keys.github_claims import GithubClaims
from services.billing.keys.github_keys import GithubKeys
from services.billing.keys.github_teams import GithubTeams, GuardedGithubKeys, rules_of
from services.billing.keys.key_files import KeyFiles
from services.billing.keys.key_resolver import KeyResolver
from services.billing.keys.key_source import AccountKeys, KeySource
from services.billing.ledger_keeper import KEEPING_INTERVAL, LedgerKeeper
from services.billing.service.alert_service import AlertServicer
from services.billing.service.billing_service import BillingServicer, Stores
from services.billing.service.identity_service import IdentityServicer
from services.billing.service.notice_orders import NoticeOrders
from services.billing.service.price_service import PriceServicer
from services.billing.service.projection_service import ProjectionServicer
from services.billing.service.report_service import ReportServicer
from services.billing.service.sign_in_service import SignInServicer
from services.billing.sign_in.identity_provider import IdentityProvider
from services.billing.sign_in.membership import MembershipRules
from services.billing.sign_in.sign_in import SignIn
from services.billing.store.account_store import AccountStore
from services.billing.store.alert_store import AlertStore
from services.billing.store.budget_store import BudgetStore, ChargedSums
from services.billing.store.delivery_store import DeliveryStore, DueMessage, give_up_others
from services.billing.store.end_notice_store import EndNoticeStore
from services.billing.store.github_store import GithubStore
from services.billing.store.history_store import HistoryStore
from services.billing.store.journal import Journal
from services.billing.store.key_store import KeyStore
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.money_figures import MoneyFigures
from services.billing.store.outside_identity_store import OutsideIdentityStore
from services.billing.store.posting_store import PostingStore
from services.billing.store.price_store import PriceStore
from services.billing.store.report_store import ReportStore
from services.billing.store.team_store import TeamStore
from services.billing.store.ticket_store import TicketStore
from services.billing.store.token_store import TokenStore
from services.billing.store.user_store import UserStore
from services.billing.wire.identity import caller_to_proto
from vocabulary.money import dollars_text, micros_of

log = logging.get_logger(__name__)

ERROR_MAP: ErrorMap = {
    errors.InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.InvalidTokenError: grpc.StatusCode.NOT_FOUND,
    errors.InvalidTicketError: grpc.StatusCode.NOT_FOUND,
    errors.NotCoveredError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.SpentCreditError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.HoldExpiredError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.LastAdministratorError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.UserDisabledError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoKeysError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.GithubOffError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoticesOffError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NoAddressError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.KeySourceAwayError: grpc.StatusCode.UNAVAILABLE,
    errors.NotAllowedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.ConflictError: grpc.StatusCode.ALREADY_EXISTS,
    errors.SignInOffError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotAdmittedError: grpc.StatusCode.PERMISSION_DENIED,
    errors.IdentityProviderError: grpc.StatusCode.UNAVAILABLE,
}


@dataclass(frozen=True)
class Alerting:
    """The parts of alerts: what takes readings, and the loops."""

    store: AlertStore
    servicer: AlertServicer
    source: MoneySource
    watch: AlertWatch
    deliveries: Sequence[DeliveryLoop[DueMessage]]
    database: database.Database
    lives: PluginLives
    """Of the channels."""

    def loops(self, settings: BillingSettings) -> list[Coroutine[Any, Any, None]]:
        """The loops, to run beside the server."""
        return [
            run_loop(self.source, settings.alert_interval, self.source.wake),
            run_loop(self.watch, settings.alert_interval, self.watch.wake),
            *(run_loop(delivery, DELIVERY_PASS, delivery.wake) for delivery in self.deliveries),
        ]

    async def start_channels(self) -> None:
        """Starts the channels; raises WrongSettingsError if one cannot."""
        try:
            await self.lives.start()
        except BrokenPluginError as error:
            raise WrongSettingsError(str(error)) from error

    async def give_up_lost_channels(self, clock: Clock) -> None:
        """Fails the messages that wait for channels which the settings no longer name."""
        channels = [delivery.channel for delivery in self.deliveries]
        if lost := await give_up_others(self.database, channels, clock.now()):
            log.warning("messages of alerts waited for channels that are gone", extra={"messages": lost})


def build_stores(db: database.Database, settings: BillingSettings, clock: Clock | None = None) -> Stores:
    """Builds the stores on one database."""
    clock = clock or SystemClock()
    journal = Journal(db, clock)
    free_micros = micros_of(settings.free_daily_credit)
    charged, notices = ChargedSums(db), EndNoticeStore(db, clock)
    return Stores(
        accounts=AccountStore(db, clock, new_id),
        users=UserStore(db, clock, new_id),
        teams=TeamStore(db, clock, new_id),
        tokens=TokenStore(db, clock, new_id),
        tickets=TicketStore(db, clock),
        keys=KeyStore(db, clock, new_id),
        github=GithubStore(db),
        # Without a mail server, nothing would send what is written.
        ledger=LedgerStore(
            db, journal, clock, new_id, free_micros, charged, notices if settings.notice_mail_options() else None
        ),
        notices=notices,
        outside_identities=OutsideIdentityStore(db, clock, new_id),
        postings=PostingStore(db),
        usage=MachineUsageStore(db, journal),
        budgets=BudgetStore(db, clock, new_id, charged),
        reports=ReportStore(db),
        prices=PriceStore(db, clock, new_id),
        history=HistoryStore(db),
    )


def build_alerting(db: database.Database, settings: BillingSettings, clock: Clock) -> Alerting:
    """Builds the parts of alerts; raises WrongSettingsError if a channel is wrong."""
    channels = open_channels(settings.channels())
    wakes = {name: asyncio.Event() for name in channels}
    watch_wake = asyncio.Event()
    store = AlertStore(db, new_id)
    evaluator = Evaluator(store, settings.rules(), channels, new_id, [watch_wake, *wakes.values()])
    return Alerting(
        store=store,
        servicer=AlertServicer(store, evaluator, channels, clock, new_id),
        source=MoneySource(
            MoneyFigures(db),
            evaluator,
            clock,
            settings.windows(),
            settings.alert_interval,
            settings.grant_micros(),
            None if settings.machine_budget is None else micros_of(settings.machine_budget),
        ),
        watch=AlertWatch(store, evaluator, clock, settings.alert_retention, watch_wake),
        deliveries=[
            DeliveryLoop(
                name,
                DeliveryStore(db, name),
                partial(send_alert, one.channel),
                clock,
                settings.alert_retry,
                wakes[name],
            )
            for name, one in channels.items()
        ],
        database=db,
        lives=lives_of(channels),
    )


def build_server(settings: BillingSettings, stores: Stores, alerting: Alerting) -> ServiceServer:
    """Builds the server with its servicers."""
    clock, gpu_types = SystemClock(), list(settings.price_tariffs())
    servicer = BillingServicer(
        stores, gpu_types, clock, settings.thresholds(), settings.machine_budget_micros(), alerting.source
    )
    prices = PriceServicer(stores.prices, gpu_types, settings.longest_run, clock)
    projections = ProjectionServicer(
        stores.history,
        stores.accounts,
        stores.usage,
        stores.prices,
        gpu_types,
        settings.grant_micros(),
        settings.machine_budget_micros(),
        clock,
    )
    credentials = credentials_of(settings, "billing")
    callers = Callers(credentials, partial(_owner, stores.tokens), others=settings.other_services().services)
    reporter = ReportServicer(
        stores.accounts, stores.reports, stores.postings, stores.usage, settings.overhead_policy, clock
    )
    audit = Audit(ActStore(alerting.database, clock, new_id), ERROR_MAP)
    server = ServiceServer("billing", settings, ERROR_MAP, callers.identify, credentials.tls, audit=audit).on(
        alerting.database.watch
    )
    billing_pb2_grpc.add_BillingServiceServicer_to_server(servicer, server.grpc)
    reports_pb2_grpc.add_ReportServiceServicer_to_server(reporter, server.grpc)
    server.expose("wavepool.billing.v1.BillingService")
    server.expose("wavepool.billing.v1.ReportService")
    notices = NoticeOrders(stores.users, available=settings.notice_mail_options() is not None)
    identity = IdentityServicer(stores, clock, *build_keys(settings, stores, clock), notices)
    identity_pb2_grpc.add_IdentityServiceServicer_to_server(identity, server.grpc)
    server.expose("wavepool.billing.v1.IdentityService")
    prices_pb2_grpc.add_PriceServiceServicer_to_server(prices, server.grpc)
    server.expose("wavepool.billing.v1.PriceService")
    projections_pb2_grpc.add_ProjectionServiceServicer_to_server(projections, server.grpc)
    server.expose("wavepool.billing.v1.ProjectionService")
    sign_in = SignInServicer(build_sign_in(settings, stores), stores.tokens)
    sign_in_pb2_grpc.add_SignInServiceServicer_to_server(sign_in, server.grpc)
    server.expose("wavepool.billing.v1.SignInService")
    alerts_pb2_grpc.add_AlertServiceServicer_to_server(alerting.servicer, server.grpc)
    server.expose("wavepool.billing.v1.AlertService")
    return server


def mail_loops(settings: BillingSettings, notices: EndNoticeStore, clock: Clock) -> list[Coroutine[Any, Any, None]]:
    """The loops of mails to users; raises WrongSettingsError if the mail server is wrong."""
    loops: list[Coroutine[Any, Any, None]] = [run_loop(notices, FORGETTING)]
    if server := open_notice_mail(settings.notice_mail_options()):
        loops.append(run_loop(delivery_of(server, notices, clock), DELIVERY_PASS))
    return loops


async def _owner(tokens: TokenStore, secret: str) -> Owner | None:
    try:
        return caller_to_proto(await tokens.authenticate(secret))
    except errors.InvalidTokenError:
        return None


def build_keys(settings: BillingSettings, stores: Stores, clock: Clock) -> tuple[KeyResolver, GithubClaims | None]:
    """Builds what finds people's SSH keys, and what finds out whose a name on GitHub is; None if GitHub is off."""
    sources: list[KeySource] = [AccountKeys(stores.keys)]
    if settings.keys_dir is not None:
        sources.append(KeyFiles(settings.keys_dir))
    if not settings.github_url:
        return KeyResolver(stores.users, stores.keys, sources, None), None
    github = GithubKeys(settings.github_url, stores.github, clock)
    rules = rules_of(settings.required_team, settings.required_repository)
    guarded = github
    if rules and settings.github_token_file is not None:
        teams = GithubTeams(settings.api_url(), rules, settings.github_token_file, clock)
        guarded = GuardedGithubKeys(github, teams)
    resolver = KeyResolver(stores.users, stores.keys, [*sources, guarded], guarded)
    return resolver, GithubClaims(github, stores.users, stores.github, clock)


def build_sign_in(settings: BillingSettings, stores: Stores) -> SignIn | None:
    """Builds the sign-in with the identity provider; None if no provider is set."""
    if not settings.oidc_issuer:
        return None
    return SignIn(
        provider=IdentityProvider(settings.oidc_issuer, settings.oidc_client_id),
        scopes=settings.oidc_scopes,
        rules=MembershipRules(
            groups_claim=settings.oidc_groups_claim,
            teams=settings.oidc_teams,
            roles=settings.oidc_roles,
            admitted_groups=settings.oidc_admitted_groups,
            admitted_email_domains=settings.oidc_email_domains,
        ),
        users=stores.outside_identities,
        clock=SystemClock(),
        token_lifetime=settings.oidc_token_lifetime,
    )


async def prepare(db: database.Database, stores: Stores, settings: BillingSettings) -> None:
    """Brings the schema up to date, proves the end of the ledger, and takes the settings' prices and account."""
    await database.migrate(db, "services.billing:migrations")
    for fault in (await stores.postings.prove(whole=False)).faults:
        log.error("the ledger is not right", extra={"fault": fault})
    with suppress(errors.IdempotencyKeyReusedError):
        # Another billing process on the same database was faster.
        await stores.usage.fund(settings.grant_micros(), "cloud-credit", "credit of the cloud, by the settings")
    await _take_prices(stores.prices, settings)
    if settings.bootstrap_account:
        bootstrap = Bootstrap(stores.users, stores.accounts, stores.ledger, stores.tokens, settings.data_dir / "token")
        await bootstrap.run(settings.bootstrap_account, settings.grant_micros())


def checked_settings() -> BillingSettings:
    """The settings; raises ValidationError, TlsFilesError, OpenToOthersError or WrongSettingsError if they are bad."""
    settings = BillingSettings()
    open_channels(settings.channels())
    open_notice_mail(settings.notice_mail_options())
    check_network(settings, "billing")
    return settings


async def give_back(db: database.Database, told: Facts) -> Facts:
    """Ends the holds of a restored database that the scheduler, which gave `told`, has no use for any more."""
    ledger = build_stores(db, BillingSettings()).ledger
    return {"holds_ended": await ledger.restored(told["failed_holds"], told["kept_holds"])}


async def faults_of(db: database.Database) -> Sequence[str]:
    """The faults of the whole ledger; empty if it is right."""
    return (await PostingStore(db).prove()).faults


async def _take_prices(prices: PriceStore, settings: BillingSettings) -> None:
    taken = await prices.take_settings(settings.price_tariffs())
    for wanted in taken.wanted:
        price = dollars_text(wanted.tariff.price_micros_per_hour)
        log.info("a price is as the settings have it, from now on", extra={"gpu_type": wanted.gpu_type, "price": price})
    for period in taken.standing:
        price = dollars_text(period.tariff.price_micros_per_hour)
        log.warning(
            "a price that an administrator set stands, and the settings have another",
            extra={"gpu_type": period.gpu_type, "price": price},
        )


async def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = checked_settings()
    logging.configure("billing", settings.log_level)
    warn_of_settings(log)
    db = database.open_database(settings, "billing")
    try:
        stores, clock = build_stores(db, settings), SystemClock()
        alerting = build_alerting(db, settings, clock)
        await prepare(db, stores, settings)
        await alerting.give_up_lost_channels(clock)
        await alerting.start_channels()
        try:
            keeper = run_loop(LedgerKeeper(stores.ledger, stores.postings), KEEPING_INTERVAL)
            tickets = run_loop(stores.tickets, FORGETTING)
            loops = [keeper, tickets, *alerting.loops(settings), *mail_loops(settings, stores.notices, clock)]
            await build_server(settings, stores, alerting).run_until_signalled(*loops)
        finally:
            await alerting.lives.close()
    finally:
        await db.close()
