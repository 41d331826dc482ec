from __future__ import annotations

from datetime import timedelta
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, text

from servicekit.clock import new_id
from servicekit.db.database import Database, migrate
from servicekit.feed import Feed
from services.vmpool.machines.lease import Holder, LeaseState
from services.vmpool.machines.machine import MachineState
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_row import machine_to_row
from services.vmpool.store.machine_store import MachineStore
from services.vmpool.store.tables import machines
from tests.services.vmpool.conftest import a_machine
from vocabulary.slots import Slot

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from servicekit.clock import ManualClock

MIGRATIONS = "services.vmpool:migrations"
LEASE: dict[str, Any] = {
    "lease_id": "half",
    "machine_id": "m1",
    "job_id": "job",
    "attempt": 1,
    "gpu_type": "MI300X",
    "gpu": 1,
    "first_eighth": 4,
    "eighths": 4,
    "fencing_token": 1,
    "start_kind": "warm_reuse",
    "state": "active",
    "reason": "",
    "create_time": 0,
    "expire_time": 2**51,
    "end_time": None,
}
WHOLE = LEASE | {"lease_id": "whole", "attempt": 2, "gpu": 0, "first_eighth": 0, "eighths": 8, "fencing_token": 2}
OVER = LEASE | {"lease_id": "over", "job_id": "other", "fencing_token": 3, "state": "ended", "end_time": 1}


@pytest.fixture
def schema() -> str:
    """None: the tests here begin with an older one."""
    return ""


LATER_COLUMNS = {"own_job_id", "keep_idle_us", "reservation_ids"}


def as_it_was_at_0009(connection: Connection) -> None:
    with as_file(files("services.vmpool") / "migrations") as path, as_file(files("servicekit.db")) as kit:
        config = Config()
        config.set_main_option("script_location", str(kit / "migration"))
        config.set_main_option("version_locations", str(path / "versions"))
        config.set_main_option("path_separator", "newline")
        config.attributes["connection"] = connection
        command.upgrade(config, "0009")
    machine = a_machine(state=MachineState.BUSY, gpu_count=2, occupied=(255, 240), fencing_token=2)
    row = {name: value for name, value in machine_to_row(machine).items() if name not in LATER_COLUMNS}
    connection.execute(insert(machines).values(row))
    names, values = ", ".join(LEASE), ", ".join(f":{name}" for name in LEASE)
    for row in (LEASE, WHOLE, OVER):
        connection.execute(text(f"INSERT INTO leases ({names}) VALUES ({values})"), row)  # noqa: S608 - names of ours


async def test_leases_of_before_there_were_several_gpus_keep_their_slots(
    database_url: str, free_clock: ManualClock
) -> None:
    database = Database(database_url)
    try:
        async with database.transaction() as connection:
            await connection.run_sync(as_it_was_at_0009)
        await migrate(database, MIGRATIONS)
        store = LeaseStore(database, free_clock, Feed(), new_id)
        standing = {lease.lease_id: lease for lease in await store.standing_on("m1")}
        renewed = await store.renew("half", timedelta(seconds=60))
        await store.release("half", "done")
        await store.release("whole", "done")
        machine = await MachineStore(database, free_clock, Feed(), Feed()).get("m1")
    finally:
        await database.close()
    assert {name: lease.slots for name, lease in standing.items()} == {
        "half": (Slot(1, 4, 4),),
        "whole": (Slot(0, 0, 8),),
    }
    assert {(lease.gang_id, lease.part, lease.holder) for lease in standing.values()} == {("", 0, Holder.JOB)}
    assert renewed.state is LeaseState.ACTIVE
    assert (machine.occupied, machine.reservation_ids) == ((0, 0), ())
