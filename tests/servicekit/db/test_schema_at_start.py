"""What a service does about its schema when it starts."""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import files

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from servicekit.db import database

LOCATIONS = ("services.billing:migrations", "services.scheduler:migrations", "services.vmpool:migrations")
START = """
import asyncio, sys
from servicekit.db.database import Database, migrate
async def start():
    database = Database(sys.argv[1])
    await migrate(database, sys.argv[2])
    await database.close()
asyncio.run(start())
print("alembic" in sys.modules)
"""


def imports_alembic(url: str, location: str) -> bool:
    """True if a process that brings this database's schema up to date needs alembic for it."""
    started = subprocess.run([sys.executable, "-c", START, url, location], capture_output=True, text=True, check=True)
    return started.stdout.strip() == "True"


@pytest.mark.parametrize("location", LOCATIONS)
def test_the_last_file_is_the_newest_revision(location: str) -> None:
    package, folder = location.split(":")
    config = Config()
    config.set_main_option("script_location", str(files("servicekit.db") / "migration"))
    versions = files(package) / folder / "versions"
    config.set_main_option("version_locations", str(versions))
    config.set_main_option("path_separator", "newline")
    assert database.newest_revision(versions) == ScriptDirectory.from_config(config).get_current_head()


def test_only_a_schema_that_is_not_up_to_date_needs_alembic(database_url: str) -> None:
    location = LOCATIONS[0]
    assert [imports_alembic(database_url, location) for _ in range(2)] == [True, False]
