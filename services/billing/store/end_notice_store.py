"""Mails about ends as rows: written with the settlement, claimed one by one, and forgotten after some days."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from servicekit.clock import Clock
from servicekit.db.database import Database
from servicekit.logging import get_logger
from services.billing.identity.rights import Role
from services.billing.identity.user import Notify
from services.billing.ledger.budgets import Period, period_start
from services.billing.ledger.end_notice import EndNotice, body_of, subject_of
from services.billing.ledger.holds import Hold
from services.billing.store.delivery_store import Outcome
from services.billing.store.tables import end_notices, users

log = get_logger(__name__)

MOST_A_DAY = 200
"""Mails to a user on one day (UTC): a list of submissions that all fail must not flood a mailbox."""
KEPT = timedelta(days=7)
"""How long a mail's row is kept, so that operators can see what became of it."""
RETRY = timedelta(hours=6)
"""After this time a mail that could not be delivered, or was not wanted, is given up: most such addresses are gone."""
_LATEST = RETRY + timedelta(minutes=30)
"""A last try after that time, which notes that the mail is given up, is no later than this."""
_IS_PERSON = (users.c.email != "") & (users.c.role != Role.SERVICE.value)
_NOTIFY = select(users.c.notify).where(users.c.user_id == bindparam("user_id"), _IS_PERSON)
_NUMBER = select(func.count()).where(
    end_notices.c.user_id == bindparam("user_id"), end_notices.c.create_time >= bindparam("midnight")
)


@dataclass(frozen=True)
class DueNotice:
    """A mail whose try begins now; `attempts` counts this one."""

    hold_id: str
    email: str
    subject: str
    body: str
    time: datetime
    attempts: int

    @property
    def about(self) -> str:
        """The hold."""
        return self.hold_id


class EndNoticeStore:
    """Writes mails for users who want them, hands them out, and notes their outcome."""

    name = "end notices"

    def __init__(self, database: Database, clock: Clock, most_a_day: int = MOST_A_DAY) -> None:
        self._database = database
        self._clock = clock
        self._most_a_day = most_a_day

    async def add(self, connection: AsyncConnection, hold: Hold, notice: EndNotice, used: timedelta) -> None:
        """Writes the mail about a hold that is settled for the last time, in that transaction, if its user wants it."""
        user_id, now = hold.purpose.user_id, self._clock.now()
        notify = await connection.scalar(_NOTIFY, {"user_id": user_id})
        if notify is None or not Notify(notify).wants(well=notice.well):
            return
        midnight = period_start(Period.DAY, now)
        number = 1 + (await connection.scalar(_NUMBER, {"user_id": user_id, "midnight": midnight}) or 0)
        if number > self._most_a_day:
            log.info("a user has had the most mails of a day", extra={"user_id": user_id, "hold_id": hold.hold_id})
            return
        row = {
            "hold_id": hold.hold_id,
            "user_id": user_id,
            "subject": subject_of(notice, hold),
            "body": body_of(notice, hold, used, now, is_last=number == self._most_a_day),
            "create_time": now,
            "outcome": Outcome.WAITING.value,
            "attempts": 0,
            "time": now,
            "failure": "",
        }
        await connection.execute(insert(end_notices).values(row))

    async def next_due(self, now: datetime, until: datetime) -> DueNotice | None:
        """Claims the oldest due mail; None if there is none. Nobody else gets it before `until`.

        A user who is disabled, has no address any more, or wants no more mails gets none, and later only new ones.
        """
        is_due = (
            (end_notices.c.outcome == Outcome.WAITING.value)
            & (end_notices.c.time <= now)
            & (end_notices.c.create_time > now - _LATEST)
        )
        wanted = _IS_PERSON & (users.c.notify != Notify.NEVER.value) & users.c.disable_time.is_(None)
        oldest = (
            select(end_notices, users.c.email)
            .join(users, users.c.user_id == end_notices.c.user_id)
            .where(is_due, wanted)
            .order_by(end_notices.c.time)
            .limit(1)
        )
        # Look before writing: most passes find nothing, and SQLite has one writer at a time.
        async with self._database.reading() as connection:
            row = (await connection.execute(oldest)).one_or_none()
        if row is None:
            return None
        claim = (
            update(end_notices)
            .where(is_due, end_notices.c.hold_id == row.hold_id)
            .values(time=until, attempts=end_notices.c.attempts + 1)
            .returning(end_notices.c.attempts)
        )
        async with self._database.transaction() as connection:
            attempts = (await connection.execute(claim)).scalar_one_or_none()
        if attempts is None:
            return None
        return DueNotice(row.hold_id, row.email, row.subject, row.body, row.create_time, attempts)

    async def note(self, message: DueNotice, outcome: Outcome, time: datetime, failure: str = "") -> None:
        """Notes the outcome of a try; a mail that goes on waiting is due again at `time`."""
        own = end_notices.c.hold_id == message.hold_id
        values = {"outcome": outcome.value, "time": time, "failure": failure}
        async with self._database.transaction() as connection:
            await connection.execute(update(end_notices).where(own).values(values))

    async def run_once(self) -> None:
        """Forgets what is too old."""
        async with self._database.transaction() as connection:
            old = end_notices.c.create_time < self._clock.now() - KEPT
            await connection.execute(delete(end_notices).where(old))
