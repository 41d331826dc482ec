"""Messages of alerts as rows: what waits for which channel, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import exists, select, update

from servicekit.db.database import Database
from servicekit.records import record_of
from services.billing.alert_rules.rule import Severity
from services.billing.store.tables import alert_deliveries, alert_transitions


class Outcome(StrEnum):
    """What became of a message.

    WAITING: entered when the transition is written, left by a try that succeeds or by the last one. The other two stay.
    """

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True)
class Delivery:
    """A message for one channel. `time` is that of the next try, or of the outcome; `failure` is the last one's."""

    channel: str
    outcome: Outcome
    attempts: int
    time: datetime
    failure: str


@dataclass(frozen=True)
class DueMessage:
    """A message whose try begins now; `attempts` counts this one."""

    seq: int
    transition_id: str
    alert_id: str
    event: str
    rule: str
    severity: Severity
    summary: str
    value: float
    time: datetime
    labels: Mapping[str, str]
    attempts: int

    @property
    def about(self) -> str:
        """The alert."""
        return self.alert_id


class DeliveryStore:
    """Hands the messages of one channel out one by one, and notes their outcome."""

    def __init__(self, database: Database, channel: str) -> None:
        self._database = database
        self._channel = channel

    async def next_due(self, now: datetime, until: datetime) -> DueMessage | None:
        """Claims the oldest due message; None if there is none.

        Nobody else gets it before `until`; if the outcome is not noted by then, the message is due again. The messages
        of one alert keep their order: each waits for the one before it.
        """
        sent, earlier = alert_deliveries, alert_deliveries.alias()
        is_blocked = exists().where(
            earlier.c.channel == sent.c.channel,
            earlier.c.alert_id == sent.c.alert_id,
            earlier.c.outcome == Outcome.WAITING.value,
            earlier.c.transition_seq < sent.c.transition_seq,
        )
        is_due = (sent.c.channel == self._channel) & (sent.c.outcome == Outcome.WAITING.value) & (sent.c.time <= now)
        oldest = select(sent.c.transition_seq).where(is_due, ~is_blocked).order_by(sent.c.transition_seq).limit(1)
        # Look before writing: most passes find nothing, and SQLite has one writer at a time.
        async with self._database.reading() as connection:
            seq = await connection.scalar(oldest)
        if seq is None:
            return None
        claim = (
            update(sent)
            .where(is_due, sent.c.transition_seq == seq)
            .values(time=until, attempts=sent.c.attempts + 1)
            .returning(sent.c.attempts)
        )
        async with self._database.transaction() as connection:
            attempts = (await connection.execute(claim)).scalar_one_or_none()
            if attempts is None:
                return None
            query = select(alert_transitions).where(alert_transitions.c.seq == seq)
            row = (await connection.execute(query)).one()
            return record_of(DueMessage, row, labels=json.loads(row.labels), attempts=attempts)

    async def note(self, message: DueMessage, outcome: Outcome, time: datetime, failure: str = "") -> None:
        """Notes the outcome of a try; a message that goes on waiting is due again at `time`."""
        own = (alert_deliveries.c.channel == self._channel) & (alert_deliveries.c.transition_seq == message.seq)
        values = {"outcome": outcome.value, "time": time, "failure": failure}
        async with self._database.transaction() as connection:
            await connection.execute(update(alert_deliveries).where(own).values(values))


async def give_up_others(database: Database, channels: Collection[str], time: datetime) -> int:
    """Fails what waits for channels that are no longer there, and gives the number."""
    is_lost = (alert_deliveries.c.outcome == Outcome.WAITING.value) & alert_deliveries.c.channel.not_in(channels)
    values = {
        "outcome": Outcome.FAILED.value,
        "time": time,
        "failure": "the settings have no such channel any more",
    }
    async with database.transaction() as connection:
        return (await connection.execute(update(alert_deliveries).where(is_lost).values(values))).rowcount
