"""The books of older billing services become the one ledger, with nothing lost."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from servicekit.db.database import Database, migrate
from services.billing.ledger.books import Book
from services.billing.server import build_stores

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from services.billing.config import BillingSettings

MIGRATIONS = "services.billing:migrations"
OLD_ROWS = """
INSERT INTO accounts VALUES ('acct_1', 'ada', {yes}, 1, 100, 45, 30, NULL);
INSERT INTO accounts VALUES ('acct_2', 'debtor', {no}, 1, 10, 15, 0, NULL);
INSERT INTO tokens VALUES ('tok_1', 'acct_1', 'laptop', 'hash', 'wpt_abc', 1, NULL);
INSERT INTO holds VALUES ('hold_1', 'acct_1', 60, {yes});
INSERT INTO holds VALUES ('hold_2', 'acct_1', 30, {no});
INSERT INTO holds VALUES ('hold_3', 'acct_2', 10, {yes});
INSERT INTO transactions VALUES ('grant:1', 'grant', 'acct_1', NULL, 100, 'First grant', 2, 100);
INSERT INTO transactions VALUES ('grant:2', 'grant', 'acct_2', NULL, 10, 'First grant', 2, 10);
INSERT INTO transactions VALUES ('job:1', 'hold', 'acct_1', 'hold_1', 60, 'a job', 3, 40);
INSERT INTO transactions VALUES ('job:1:1', 'settlement', 'acct_1', 'hold_1', 45, '', 3, 55);
INSERT INTO transactions VALUES ('job:2', 'hold', 'acct_1', 'hold_2', 30, '', 9, 25);
INSERT INTO transactions VALUES ('job:3', 'hold', 'acct_2', 'hold_3', 10, '', 9, 0);
INSERT INTO transactions VALUES ('job:3:1', 'settlement', 'acct_2', 'hold_3', 15, '', 9, -5);
INSERT INTO postings VALUES (1, 'p1', 'grant:1', 'acct_1', 'granted', 'grant', -100);
INSERT INTO postings VALUES (2, 'p2', 'grant:1', 'acct_1', 'available', 'grant', 100);
INSERT INTO postings VALUES (3, 'p3', 'grant:2', 'acct_2', 'granted', 'grant', -10);
INSERT INTO postings VALUES (4, 'p4', 'grant:2', 'acct_2', 'available', 'grant', 10);
INSERT INTO postings VALUES (5, 'p5', 'job:1', 'acct_1', 'available', 'hold', -60);
INSERT INTO postings VALUES (6, 'p6', 'job:1', 'acct_1', 'held', 'hold', 60);
INSERT INTO postings VALUES (7, 'p7', 'job:1:1', 'acct_1', 'held', 'release', -60);
INSERT INTO postings VALUES (8, 'p8', 'job:1:1', 'acct_1', 'available', 'release', 60);
INSERT INTO postings VALUES (9, 'p9', 'job:1:1', 'acct_1', 'available', 'charge', -45);
INSERT INTO postings VALUES (10, 'p10', 'job:1:1', 'acct_1', 'charged', 'charge', 45);
INSERT INTO postings VALUES (11, 'p11', 'job:2', 'acct_1', 'available', 'hold', -30);
INSERT INTO postings VALUES (12, 'p12', 'job:2', 'acct_1', 'held', 'hold', 30);
INSERT INTO postings VALUES (13, 'p13', 'job:3', 'acct_2', 'available', 'hold', -10);
INSERT INTO postings VALUES (14, 'p14', 'job:3', 'acct_2', 'held', 'hold', 10);
INSERT INTO postings VALUES (15, 'p15', 'job:3:1', 'acct_2', 'held', 'release', -10);
INSERT INTO postings VALUES (16, 'p16', 'job:3:1', 'acct_2', 'available', 'release', 10);
INSERT INTO postings VALUES (17, 'p17', 'job:3:1', 'acct_2', 'available', 'charge', -15);
INSERT INTO postings VALUES (18, 'p18', 'job:3:1', 'acct_2', 'charged', 'charge', 15);
INSERT INTO machine_usage VALUES ('m1', 1, 'local', 'MI300X', 1, 1, 5, 1990000, 700, {no}, 1, 0, 1);
INSERT INTO machine_usage VALUES ('m1', 2, 'local', 'MI300X', 1, 5, 6, 1990000, 0, {yes}, 1, 0, 1);
"""


@pytest.fixture
def schema() -> str:
    """None: the tests here begin with an older one."""
    return ""


def upgrade(connection: Connection, revision: str) -> None:
    with as_file(files("services.billing") / "migrations") as path, as_file(files("servicekit.db")) as kit:
        config = Config()
        config.set_main_option("script_location", str(kit / "migration"))
        config.set_main_option("version_locations", str(path / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


async def test_old_books_become_one_ledger_that_proves_right(database_url: str, settings: BillingSettings) -> None:
    db = Database(database_url)
    async with db.transaction() as connection:
        await connection.run_sync(upgrade, "0003")
        yes, no = ("true", "false") if db.dialect_name == "postgresql" else ("1", "0")
        for statement in filter(str.strip, OLD_ROWS.format(yes=yes, no=no).split(";")):
            await connection.execute(text(statement))
    await migrate(db, MIGRATIONS)
    stores = build_stores(db, settings)
    proof = await stores.postings.prove()
    assert (proof.last_seq, proof.postings, proof.faults) == (8, 20, [])
    balances = [(await stores.accounts.get(account_id)).balance for account_id in ("acct_1", "acct_2")]
    assert [(one.charged_micros, one.held_micros, one.available_micros) for one in balances] == [
        (45, 30, 25),
        (15, 0, -5),
    ]
    operator = await stores.usage.operator_balance()
    assert (operator.cost_by_book[Book.UNATTRIBUTED], operator.remaining_micros) == (700, -700)
    assert [grant.remaining_micros for grant in await stores.ledger.grants_of("acct_1")] == [55]
    # Calls that were made before are answered as they were, and what was under way goes on.
    assert (await stores.ledger.settle("hold_1", 45, "job:1:1", "")).repeated
    assert (await stores.ledger.settle("hold_2", 20, "job:2:1", "")).available_micros == 35
    # A debt from before is paid by the next grant.
    assert (await stores.ledger.grant("acct_2", 8, "more", "")).available_micros == 3
    assert (await stores.postings.prove()).faults == []
    await db.close()
