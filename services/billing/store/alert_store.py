"""Alerts as rows: the state of each that was ever active, and the history of their transitions."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, bindparam, delete, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from servicekit.db.database import Database
from servicekit.records import record_of, row_of
from services.billing.alert_rules.engine import AlertState, Phase, Transition
from services.billing.alert_rules.rule import ACCOUNT_LABEL, Severity, labels_text
from services.billing.store.delivery_store import Delivery, Outcome
from services.billing.store.tables import alert_deliveries, alert_states, alert_transitions

_KEYS_AT_ONCE = 500
"""Values in one IN list: fewer than any database allows."""
_REFRESHED_AT_ONCE = 100
"""Alerts in one transaction: on SQLite, money waits until it ends."""
_REFRESH = (
    update(alert_states)
    .where(*(alert_states.c[name] == bindparam(f"new_{name}") for name in ("source", "rule", "labels", "version")))
    .values({name: bindparam(f"new_{name}") for name in ("summary", "value", "reading_time", "valid_for_us")})
)


@dataclass(frozen=True)
class Alert:
    """An alert with its state. `alert_id` is a new one each time it leaves INACTIVE; version 0 has no row yet."""

    source: str
    rule: str
    labels: Mapping[str, str]
    reading: str
    severity: Severity
    summary: str
    alert_id: str = ""
    state: AlertState = field(default_factory=AlertState)
    version: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """Tells the alerts of one source apart."""
        return self.rule, labels_text(self.labels)


@dataclass(frozen=True)
class HistoryLine:
    """A transition of an alert, with what became of its messages."""

    seq: int
    transition_id: str
    alert_id: str
    rule: str
    severity: Severity
    labels: Mapping[str, str]
    event: Transition
    summary: str
    value: float
    time: datetime
    deliveries: tuple[Delivery, ...] = ()


@dataclass(frozen=True)
class Happening:
    """A transition to write down, and the channels that are to announce it."""

    event: Transition
    channels: tuple[str, ...] = ()


class AlertStore:
    """Stores alerts. A transition and its messages are written in one transaction, once among all processes."""

    def __init__(self, database: Database, new_id: Callable[[str], str]) -> None:
        self._database = database
        self._new_id = new_id

    async def of_source(self, source: str, labels: Collection[str] | None = None) -> dict[tuple[str, str], Alert]:
        """The stored alerts of a source by key; only those with these `labels` (as texts) if they are given."""
        query = select(alert_states).where(alert_states.c.source == source)
        if labels is None:
            return {alert.key: alert for alert in await self._alerts(query)}
        wanted = list(labels)
        found: dict[tuple[str, str], Alert] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            part = wanted[start : start + _KEYS_AT_ONCE]
            found |= {alert.key: alert for alert in await self._alerts(query.where(alert_states.c.labels.in_(part)))}
        return found

    async def active(self, account_id: str | None = None) -> Sequence[Alert]:
        """The pending and firing alerts, newest first; only one account's if it is given."""
        query = select(alert_states).where(alert_states.c.phase != Phase.INACTIVE.value)
        if account_id is not None:
            query = query.where(alert_states.c.account_id == account_id)
        return await self._alerts(query.order_by(alert_states.c.since.desc(), alert_states.c.alert_id))

    async def change(self, alert: Alert, happenings: Sequence[Happening], time: datetime) -> bool:
        """Writes an alert's next state with its transitions; False if another process has changed it since."""
        async with self._database.transaction() as connection:
            row = _row_of(replace(alert, version=alert.version + 1))
            if alert.version:
                statement: Any = update(alert_states).where(_is(alert)).values(row).returning(alert_states.c.version)
            else:
                dialect = postgresql if self._database.dialect_name == "postgresql" else sqlite
                new = dialect.insert(alert_states).values(row)
                statement = new.on_conflict_do_nothing().returning(alert_states.c.version)
            if (await connection.execute(statement)).one_or_none() is None:
                return False
            for happening in happenings:
                line = insert(alert_transitions).values(self._transition_row(alert, happening.event, time))
                seq = (await connection.execute(line.returning(alert_transitions.c.seq))).scalar_one()
                if happening.channels:
                    rows = [_delivery_row(seq, alert.alert_id, channel, time) for channel in happening.channels]
                    await connection.execute(insert(alert_deliveries), rows)
        return True

    async def refresh(self, alerts: Sequence[Alert]) -> None:
        """Notes newer readings of alerts that stay as they are."""
        rows = [{f"new_{name}": value for name, value in _row_of(alert).items()} for alert in alerts]
        for start in range(0, len(rows), _REFRESHED_AT_ONCE):
            async with self._database.transaction() as connection:
                await connection.execute(_REFRESH, rows[start : start + _REFRESHED_AT_ONCE])

    async def history(self, account_id: str | None, *, before_seq: int | None, limit: int) -> Sequence[HistoryLine]:
        """The transitions, newest first; only those of one account if it is given."""
        query = select(alert_transitions).order_by(alert_transitions.c.seq.desc()).limit(limit)
        if account_id is not None:
            query = query.where(alert_transitions.c.account_id == account_id)
        if before_seq is not None:
            query = query.where(alert_transitions.c.seq < before_seq)
        async with self._database.reading() as connection:
            rows = (await connection.execute(query)).all()
            sent = select(alert_deliveries).where(alert_deliveries.c.transition_seq.in_([row.seq for row in rows]))
            deliveries = (await connection.execute(sent.order_by(alert_deliveries.c.channel))).all()
        by_seq: dict[int, list[Delivery]] = {}
        for row in deliveries:
            by_seq.setdefault(row.transition_seq, []).append(record_of(Delivery, row))
        return [_line_from_row(row, tuple(by_seq.get(row.seq, ()))) for row in rows]

    async def forget(self, before: datetime) -> None:
        """Deletes what ended before an instant: transitions, their messages, and states of inactive alerts."""
        old = select(alert_transitions.c.seq).where(alert_transitions.c.time < before)
        is_inactive = alert_states.c.phase == Phase.INACTIVE.value
        async with self._database.transaction() as connection:
            await connection.execute(delete(alert_deliveries).where(alert_deliveries.c.transition_seq.in_(old)))
            await connection.execute(delete(alert_transitions).where(alert_transitions.c.time < before))
            await connection.execute(delete(alert_states).where(is_inactive, alert_states.c.since < before))

    async def _alerts(self, query: Any) -> list[Alert]:  # noqa: ANN401 - a select
        async with self._database.reading() as connection:
            return [_alert_from_row(row) for row in (await connection.execute(query)).all()]

    def _transition_row(self, alert: Alert, event: Transition, time: datetime) -> dict[str, object]:
        kept = {"transition_id": self._new_id("altr"), "event": event, "time": time} | _labels_of(alert)
        return row_of(alert_transitions, alert, alert.state, **kept)


def _is(alert: Alert) -> Any:  # noqa: ANN401 - a condition
    rule, labels = alert.key
    columns = alert_states.c
    return and_(
        columns.source == alert.source, columns.rule == rule, columns.labels == labels, columns.version == alert.version
    )


def _delivery_row(seq: int, alert_id: str, channel: str, time: datetime) -> dict[str, object]:
    waiting = Delivery(channel, Outcome.WAITING, 0, time, "")
    return row_of(alert_deliveries, waiting, transition_seq=seq, alert_id=alert_id)


def _labels_of(alert: Alert) -> dict[str, object]:
    return {"labels": labels_text(alert.labels), "account_id": alert.labels.get(ACCOUNT_LABEL)}


def _row_of(alert: Alert) -> dict[str, object]:
    return row_of(alert_states, alert, alert.state, **_labels_of(alert))


def _alert_from_row(row: Row[Any]) -> Alert:
    return record_of(Alert, row, labels=json.loads(row.labels), state=record_of(AlertState, row))


def _line_from_row(row: Row[Any], deliveries: tuple[Delivery, ...]) -> HistoryLine:
    return record_of(HistoryLine, row, labels=json.loads(row.labels), deliveries=deliveries)
