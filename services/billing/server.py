"""Builds the billing service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
from wavepool.billing.v1 import billing_pb2_grpc

from servicekit import logging
from servicekit.clock import SystemClock, new_id
from servicekit.db import database
from servicekit.rpc.server import ServiceServer
from servicekit.settings.setting_names import warn_of_settings
from services.billing import errors
from services.billing.alerts.money_metrics import Alerts
from services.billing.bootstrap import Bootstrap
from services.billing.config import BillingSettings
from services.billing.service.billing_service import BillingServicer, Stores
from services.billing.store.account_store import AccountStore
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.posting_store import PostingStore
from services.billing.store.token_store import TokenStore

if TYPE_CHECKING:
    from servicekit.rpc.errors import ErrorMap

log = logging.get_logger(__name__)

ERROR_MAP: ErrorMap = {
    errors.InvalidFieldError: grpc.StatusCode.INVALID_ARGUMENT,
    errors.InvalidTokenError: grpc.StatusCode.NOT_FOUND,
    errors.InsufficientCreditError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.LastAdministratorTokenError: grpc.StatusCode.FAILED_PRECONDITION,
    errors.NotFoundError: grpc.StatusCode.NOT_FOUND,
    errors.ConflictError: grpc.StatusCode.ALREADY_EXISTS,
}


def build_stores(db: database.Database, settings: BillingSettings) -> Stores:
    """Builds the stores on one database."""
    clock = SystemClock()
    return Stores(
        accounts=AccountStore(db, clock, new_id),
        tokens=TokenStore(db, clock, new_id),
        ledger=LedgerStore(db, clock, new_id, settings.budget()),
        postings=PostingStore(db),
        usage=MachineUsageStore(db),
    )


def build_server(settings: BillingSettings, stores: Stores) -> ServiceServer:
    """Builds the server with its servicer."""
    servicer = BillingServicer(stores, settings.prices(), settings.budget(), settings.machine_budget_micros(), Alerts())
    server = ServiceServer("billing", settings, ERROR_MAP)
    billing_pb2_grpc.add_BillingServiceServicer_to_server(servicer, server.grpc)
    server.expose("wavepool.billing.v1.BillingService")
    return server


async def prepare(db: database.Database, stores: Stores, settings: BillingSettings) -> None:
    """Brings the schema up to date, audits the ledger, and opens the first account."""
    await database.migrate(db, "services.billing:migrations")
    for account_id, kept, summed in await stores.postings.mismatches():
        log.error(
            "an account's sums differ from its postings",
            extra={"account_id": account_id, "kept": kept, "summed": summed},
        )
    if settings.bootstrap_account:
        bootstrap = Bootstrap(stores.accounts, stores.ledger, stores.tokens, settings.data_dir / "token")
        await bootstrap.run(settings.bootstrap_account, settings.grant_micros())


async def main() -> None:
    """Serves until SIGTERM or SIGINT."""
    settings = BillingSettings()
    logging.configure("billing", settings.log_level)
    warn_of_settings(log)
    db = database.Database(settings.resolved_database_url("billing"))
    try:
        stores = build_stores(db, settings)
        await prepare(db, stores, settings)
        await build_server(settings, stores).run_until_signalled()
    finally:
        await db.close()
