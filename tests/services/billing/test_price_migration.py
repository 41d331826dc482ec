from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from servicekit.db.database import Database, migrate
from services.billing.server import build_stores, prepare

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from services.billing.config import BillingSettings

ACCOUNT = (
    "INSERT INTO accounts (account_id, name, admin, create_time, granted_micros, charged_micros, held_micros) "
    "VALUES ('acct_1', 'ada', true, 1, 0, 0, 0)"
)
USAGE = (
    "INSERT INTO machine_usage (machine_id, sequence, provider, gpu_type, gpu_count, start_time, end_time, "
    "price_micros_per_hour, cost_micros, final) VALUES ('m1', 1, 'local', 'MI300X', 1, 0, 1, 1990000, 7, true)"
)


@pytest.fixture
def schema() -> str:
    """None: the tests here begin with an older one."""
    return ""


def upgrade_to(connection: Connection, revision: str) -> None:
    with (
        as_file(files("services.billing") / "migrations") as path,
        as_file(files("servicekit.db") / "migration") as env,
    ):
        config = Config()
        config.set_main_option("script_location", str(env))
        config.set_main_option("version_locations", str(path / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


async def test_a_database_from_before_prices_keeps_its_rows_and_gets_the_settings_prices(
    database_url: str, settings: BillingSettings
) -> None:
    db = Database(database_url)
    async with db.transaction() as connection:
        await connection.run_sync(upgrade_to, "0003")
        for row in (ACCOUNT, USAGE):
            await connection.execute(text(row))
    await migrate(db, "services.billing:migrations")
    stores = build_stores(db, settings)
    await prepare(db, stores, settings)
    assert await stores.usage.total_cost_micros() == 7
    assert (await stores.accounts.get("acct_1")).name == "ada"
    periods = await stores.prices.periods()
    assert {period.gpu_type: period.tariff for period in periods} == settings.price_tariffs()
    await db.close()
