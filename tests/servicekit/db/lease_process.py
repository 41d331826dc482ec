"""A program that takes a leader lease and writes notes until another has taken over; its lines tell what it does.

`python -m tests.servicekit.db.lease_process URL TERM_SECONDS [held]`; with `held` its first transaction stays open
until a line comes in. The server may break a transaction in which the process was stopped; a loop would go on then.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import insert

from servicekit.db.database import Database
from servicekit.db.leader_lease import LeaderLease, LeadershipLostError
from servicekit.storage import DatabaseAwayError
from tests.servicekit.db.leases import ROLE, note, notes


def say(*words: object) -> None:
    print(*words, flush=True)  # noqa: T201 - how the test hears of it


async def write(database: Database, lease: LeaderLease) -> None:
    while True:
        with suppress(DatabaseAwayError):
            await note(database, lease.epoch)


async def write_once_told(database: Database, lease: LeaderLease) -> None:
    with suppress(DatabaseAwayError):
        async with database.transaction() as connection:
            await connection.execute(insert(notes).values(epoch=lease.epoch))
            say("open")
            await asyncio.to_thread(sys.stdin.readline)
    await write(database, lease)


async def main(url: str, term_seconds: str, *way: str) -> None:
    database = Database(url)
    lease = LeaderLease(database, ROLE, timedelta(seconds=float(term_seconds)))
    await lease.take(timedelta(seconds=60))
    say("leads", lease.epoch)
    work = write_once_told if way else write
    try:
        await lease.lead(work(database, lease))
    except LeadershipLostError as error:
        try:
            await note(database, lease.epoch)
        except LeadershipLostError:
            say("lost", error)


asyncio.run(main(*sys.argv[1:]))
