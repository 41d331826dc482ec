"""Alerts on a real database, with a clock that the test moves and a channel that remembers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count

import pytest

from servicekit.clock import ManualClock, new_id
from servicekit.db.database import Database
from services.billing.alert_rules.money import Windows, money_rules
from services.billing.alert_rules.rule import Comparison, Rule, Severity
from services.billing.alerts.alert_watch import AlertWatch
from services.billing.alerts.channels.channel import ChannelError, Notice
from services.billing.alerts.channels.plugins import NamedChannel
from services.billing.alerts.delivery import DeliveryLoop, send_alert
from services.billing.alerts.evaluator import Evaluator
from services.billing.alerts.money_source import MoneySource
from services.billing.service.billing_service import Stores
from services.billing.store.alert_store import AlertStore
from services.billing.store.delivery_store import DeliveryStore
from services.billing.store.journal import Journal
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.machine_usage_store import MachineUsageStore
from services.billing.store.money_figures import MoneyFigures

START = datetime(2026, 1, 1, tzinfo=UTC)
INTERVAL = timedelta(seconds=30)
QUEUE = Rule("queue-long", Severity.WARNING, "queue.jobs", Comparison.ABOVE, 10, 5, timedelta(0), "{value} jobs wait")


class Recorder:
    """A channel that remembers notices, and fails while `faults` has any."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.tried: list[str] = []
        self.faults: list[Exception] = []

    async def send(self, notice: Notice) -> None:
        self.tried.append(notice.notice_id)
        if self.faults:
            raise self.faults.pop(0)
        self.notices.append(notice)

    def refuse(self, times: int) -> None:
        self.faults = [ChannelError("it answered HTTP 503") for _ in range(times)]


@dataclass
class Bench:
    """The parts of alerts of one process; several benches on one database are several processes."""

    db: Database
    stores: Stores
    clock: ManualClock
    rules: list[Rule]
    retry: timedelta = timedelta(hours=1)
    recorder: Recorder = field(default_factory=Recorder)
    budget_micros: int | None = None

    def __post_init__(self) -> None:
        self.named = NamedChannel("ops", "recorder", Severity.INFO, self.recorder)
        self.store, self.sent = AlertStore(self.db, new_id), DeliveryStore(self.db, "ops")
        self.wake = asyncio.Event()
        self.evaluator = Evaluator(self.store, self.rules, {"ops": self.named}, new_id, [self.wake])
        self.source = MoneySource(
            MoneyFigures(self.db),
            self.evaluator,
            self.clock,
            Windows(burn=timedelta(hours=1)),
            INTERVAL,
            1_000_000,
            self.budget_micros,
        )
        self.watch = AlertWatch(self.store, self.evaluator, self.clock, timedelta(days=90), asyncio.Event())
        self.delivery = DeliveryLoop(
            "ops", self.sent, partial(send_alert, self.recorder), self.clock, self.retry, asyncio.Event()
        )
        # The ledger of this bench's clock: rates look at the times of its transactions.
        journal = Journal(self.db, self.clock)
        self.ledger = LedgerStore(self.db, journal, self.clock, new_id)
        self.usage = MachineUsageStore(self.db, journal)
        self._keys = count()

    async def account(self, micros: int, name: str = "ada") -> str:
        account = await self.stores.accounts.create(name)
        await self.grant(account.account_id, micros)
        return account.account_id

    async def grant(self, account_id: str, micros: int) -> None:
        await self.ledger.grant(account_id, micros, f"grant:{account_id}:{next(self._keys)}", "")
        self.source.credit_moved(account_id)

    async def spend(self, account_id: str, micros: int) -> None:
        key = f"job:{account_id}:{next(self._keys)}"
        held = await self.ledger.hold(account_id, micros, key, "")
        await self.ledger.settle(held.hold_id, micros, f"{key}:1", "")
        self.source.credit_moved(account_id)

    async def look(self, after: timedelta = timedelta(0)) -> None:
        """Moves the clock, and lets the loops take one pass each."""
        self.clock.advance(after)
        await self.source.run_once()
        await self.watch.run_once()
        await self.delivery.run_once()

    async def events(self, account_id: str | None = None) -> list[str]:
        """What happened, oldest first, as `event rule`."""
        lines = await self.store.history(account_id, before_seq=None, limit=1000)
        return [f"{line.event} {line.rule}" for line in reversed(lines)]

    @property
    def told(self) -> list[str]:
        """What people were told, oldest first."""
        return [f"{notice.event} {notice.rule}" for notice in self.recorder.notices]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START)


@pytest.fixture
def bench(db: Database, stores: Stores, clock: ManualClock) -> Bench:
    return Bench(db, stores, clock, money_rules([0.8], None, None, 0))
