"""Databases of earlier versions, with rows in them."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from servicekit.clock import SystemClock
from servicekit.db import database
from services.billing.alert_rules.engine import Phase
from services.billing.server import build_alerting, build_stores

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from services.billing.config import BillingSettings


CREDIT = (
    "INSERT INTO transactions VALUES ('grant:1', 'grant', 'acct_1', NULL, 1000, '', 2, 1000)",
    "INSERT INTO transactions VALUES ('job:1:1', 'settlement', 'acct_1', NULL, 900, '', 3, 100)",
    "INSERT INTO postings VALUES (1, 'p1', 'grant:1', 'acct_1', 'granted', 'grant', -1000)",
    "INSERT INTO postings VALUES (2, 'p2', 'grant:1', 'acct_1', 'available', 'grant', 1000)",
    "INSERT INTO postings VALUES (3, 'p3', 'job:1:1', 'acct_1', 'available', 'charge', -900)",
    "INSERT INTO postings VALUES (4, 'p4', 'job:1:1', 'acct_1', 'charged', 'charge', 900)",
)
"""What ada was granted and charged."""


@pytest.fixture
def schema() -> str:
    """None: the tests here begin with an older one."""
    return ""


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[database.Database]:
    """A database without tables."""
    db = database.Database(database_url)
    yield db
    await db.close()


def upgrade(connection: Connection, revision: str) -> None:
    with (
        as_file(files("services.billing") / "migrations") as path,
        as_file(files("servicekit.db") / "migration") as environment,
    ):
        config = Config()
        config.set_main_option("script_location", str(environment))
        config.set_main_option("version_locations", str(path / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


async def test_an_alert_of_an_earlier_version_stays_on_and_is_not_announced_again(
    db: database.Database, settings: BillingSettings
) -> None:
    account = "INSERT INTO accounts VALUES ('{}', '{}', false, 1700000000000000, 1000, {}, 0, {})"
    async with db.transaction() as connection:
        await connection.run_sync(upgrade, "0003")
        await connection.execute(text(account.format("acct_1", "ada", 900, 1700000001000000)))
        await connection.execute(text(account.format("acct_2", "bob", 100, "NULL")))
        for statement in CREDIT:
            await connection.execute(text(statement))
    await database.migrate(db, "services.billing:migrations")
    alerting, stores = build_alerting(db, settings, SystemClock()), build_stores(db, settings)
    (alert,) = await alerting.store.active()
    assert (alert.rule, alert.labels, alert.state.phase) == (
        "account-credit-spent-80",
        {"account": "acct_1"},
        Phase.FIRING,
    )
    await alerting.source.run_once()
    await alerting.watch.run_once()
    assert await alerting.store.history(None, before_seq=None, limit=10) == []
    await stores.ledger.grant("acct_1", 1000, "more", "")
    alerting.source.credit_moved("acct_1")
    await alerting.source.run_once()
    assert await alerting.store.active() == []
