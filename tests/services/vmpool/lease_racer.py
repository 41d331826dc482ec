"""A process that races for leases: for each line that it reads, it asks for all its jobs and prints the results.

Arguments: the database's URL, the process's name, the number of its jobs. A line has a round's number and the eighths
that each job wants.
"""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import timedelta

from servicekit.clock import SystemClock, new_id
from servicekit.db import database
from servicekit.feed import Feed
from services.vmpool.machines.lease import LeaseRequest
from services.vmpool.store.lease_store import LeaseStore


async def race(store: LeaseStore, name: str, jobs: int, started: str, eighths: int) -> list[tuple[str, int, int, int]]:
    """The resulting leases: id, slot and token."""
    requests = [
        LeaseRequest(f"{name}-{started}-{number}", 1, "MI300X", eighths, None, timedelta(hours=1))
        for number in range(jobs)
    ]
    outcomes = await asyncio.gather(*(store.acquire(request) for request in requests))
    leases = [outcome[0] for outcome in outcomes if outcome is not None]
    return [(lease.lease_id, lease.slots[0].first, lease.size, lease.fencing_token) for lease in leases]


def tell(line: str) -> None:
    """Prints a line for the test that started this process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


async def main(url: str, name: str, jobs: int) -> None:
    db = database.Database(url)
    store = LeaseStore(db, SystemClock(), Feed(), new_id)
    await store.counts()
    tell("ready")
    for line in iter(sys.stdin.readline, ""):
        started, eighths = line.split()
        tell(json.dumps(await race(store, name, jobs, started, int(eighths))))
    await db.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
