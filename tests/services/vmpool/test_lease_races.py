"""Processes that race for the slots of one machine, on one database."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from servicekit.clock import SystemClock, new_id
from servicekit.db import database
from servicekit.feed import Feed
from services.vmpool.machines.machine import Inventory
from services.vmpool.store.lease_store import LeaseStore
from services.vmpool.store.machine_store import MachineStore
from tests.services.vmpool.conftest import a_machine

Won = list[tuple[str, int, int, int]]

RACER = Path(__file__).with_name("lease_racer.py")
DEADLINE_SECONDS = 90
ROUNDS = 8
JOBS_EACH = 4


@asynccontextmanager
async def racers(url: str, *names: str) -> AsyncGenerator[list[Process]]:
    """Processes that are ready to race."""
    processes = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, str(RACER), url, name, str(JOBS_EACH)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
        )
        for name in names
    ]
    try:
        for process in processes:
            assert await answer_of(process) == b"ready\n"
        yield processes
    finally:
        for process in processes:
            assert process.stdin
            process.stdin.close()
        for process in processes:
            assert await asyncio.wait_for(process.wait(), DEADLINE_SECONDS) == 0


async def answer_of(process: Process) -> bytes:
    assert process.stdout
    return await asyncio.wait_for(process.stdout.readline(), DEADLINE_SECONDS)


async def race(processes: list[Process], started: int, eighths: int) -> list[Won]:
    """The leases that each process won."""
    for process in processes:
        assert process.stdin
        process.stdin.write(f"{started} {eighths}\n".encode())
    return [json.loads(await answer_of(process)) for process in processes]


@pytest.mark.parametrize("eighths", [8, 2])
async def test_of_two_processes_that_race_for_a_slot_one_wins_it(database_url: str, eighths: int) -> None:
    db = database.Database(database_url)
    await database.migrate(db, "services.vmpool:migrations")
    now = datetime.now(UTC)
    machine = a_machine(create_time=now, state_time=now).provision(now).start(now, "127.0.0.1:1")
    await MachineStore(db, SystemClock(), Feed(), Feed()).add(machine.join(now, Inventory(device="cpu")), "test")
    leases = LeaseStore(db, SystemClock(), Feed(), new_id)
    tokens: list[int] = []
    async with racers(database_url, "one", "other") as processes:
        for started in range(ROUNDS):
            won = [lease for of_one in await race(processes, started, eighths) for lease in of_one]
            assert sorted(first for _, first, _, _ in won) == list(range(0, 8, eighths))
            tokens += sorted(token for *_, token in won)
            for lease_id, *_ in won:
                await leases.release(lease_id, "the round is over")
    assert tokens == list(range(1, ROUNDS * 8 // eighths + 1))
    await db.close()
