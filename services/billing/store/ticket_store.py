"""Tickets as rows: hashes only."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, insert, select, update

from servicekit.clock import Clock
from servicekit.db.database import Database
from services.billing.errors import InvalidTicketError
from services.billing.identity.api_token import new_secret, secret_hash
from services.billing.identity.ticket import LIFETIME, TICKET, Ticket, why_refused
from services.billing.store.tables import tickets

KEPT = timedelta(minutes=10)
"""For this long after its end, a ticket is refused with the reason."""


class TicketStore:
    """Creates tickets and uses them up; as a loop, forgets those that are old."""

    name = "old tickets"

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, token_id: str, address: str) -> tuple[str, datetime]:
        """Makes a ticket for a token, and gives its secret and its end."""
        secret, expire_time = new_secret(TICKET), self._clock.now() + LIFETIME
        row = {
            "secret_hash": secret_hash(secret),
            "token_id": token_id,
            "address": address,
            "expire_time": expire_time,
        }
        async with self._database.transaction() as connection:
            await connection.execute(insert(tickets).values(row))
        return secret, expire_time

    async def use(self, secret: str, address: str) -> str:
        """Uses a ticket up, and gives the id of the token that asked for it. Raises InvalidTicketError."""
        now = self._clock.now()
        is_it = tickets.c.secret_hash == secret_hash(secret)
        works = (tickets.c.address == address, tickets.c.use_time.is_(None), tickets.c.expire_time > now)
        async with self._database.transaction() as connection:
            using = update(tickets).where(is_it, *works).values(use_time=now)
            is_used = (await connection.execute(using)).rowcount == 1
            row = (await connection.execute(select(tickets).where(is_it))).one_or_none()
        if is_used and row is not None:
            return row.token_id
        found = Ticket(row.token_id, row.address, row.expire_time, row.use_time) if row else None
        raise InvalidTicketError(why_refused(found, address))

    async def run_once(self) -> None:
        """Forgets what is too old."""
        async with self._database.transaction() as connection:
            await connection.execute(delete(tickets).where(tickets.c.expire_time < self._clock.now() - KEPT))
