from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.exc import DatabaseError

from services.vmpool.machines import lease, machine
from services.vmpool.machines.lease import LeaseState
from services.vmpool.machines.machine import OVER, MachineState
from services.vmpool.store import tables
from services.vmpool.store.machine_row import machine_to_row
from tests.servicekit.db.allowed_moves import allowed_moves
from tests.services.vmpool.conftest import START, Bench, a_machine

LEASE = {
    "lease_id": "l1",
    "machine_id": "m1",
    "job_id": "job",
    "attempt": 1,
    "part": 0,
    "gpu_type": "MI300X",
    "gpus": 1,
    "first_eighth": 0,
    "eighths": 8,
    "fencing_token": 1,
    "start_kind": "warm_reuse",
    "reason": "",
    "create_time": START,
    "expire_time": START,
}


def of_machine(state: str) -> dict[str, Any]:
    return {"state": state, "end_time": START if MachineState(state) in OVER else None}


def of_lease(state: str) -> dict[str, Any]:
    return {"state": state, "end_time": START if state == LeaseState.ENDED else None}


async def test_the_database_lets_machines_make_the_legal_moves_and_no_others(bench: Bench) -> None:
    found = await allowed_moves(
        bench.database, tables.machines, list(MachineState), of_machine, machine_to_row(a_machine())
    )
    assert found == machine.LEGAL_MOVES


async def test_the_database_lets_leases_make_the_legal_moves_and_no_others(bench: Bench) -> None:
    await bench.machines.add(a_machine(), "test")
    found = await allowed_moves(bench.database, tables.leases, list(LeaseState), of_lease, LEASE)
    assert found == lease.LEGAL_MOVES


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"state": "asleep"}, "unknown state"),
        ({"state": "active", "end_time": START}, "without its end_time"),
        ({"state": "ended", "end_time": None}, "without its end_time"),
    ],
)
async def test_the_database_refuses_leases_that_contradict_themselves(
    bench: Bench, changes: dict[str, Any], why: str
) -> None:
    await bench.machines.add(a_machine(), "test")
    with pytest.raises(DatabaseError, match=why):
        async with bench.database.transaction() as connection:
            await connection.execute(insert(tables.leases).values(LEASE | {"end_time": None} | changes))
