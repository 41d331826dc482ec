"""Budgets: how much may be charged in a period, to an account, for a user, or in a queue.

A hard budget refuses a hold that could exceed it. A soft one refuses nothing. Alerts watch both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from services.billing.errors import BudgetExceededError, InvalidFieldError
from services.billing.ledger.books import check_amount


class Scope(StrEnum):
    """The kind of thing that a budget limits; its `subject` is the id or name."""

    ACCOUNT = "account"
    USER = "user"
    QUEUE = "queue"


class Period(StrEnum):
    """The time after which a budget begins again, in UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    TOTAL = "total"


_PERIOD_TEXT = {
    Period.DAY: "for each day",
    Period.WEEK: "for each week",
    Period.MONTH: "for each month",
    Period.TOTAL: "in total",
}


@dataclass(frozen=True)
class Budget:
    """A limit in micro-dollars for a period."""

    budget_id: str
    scope: Scope
    subject: str
    period: Period
    limit_micros: int
    hard: bool
    subject_name: str = ""
    """The account's or user's name; a queue's is its subject."""

    @property
    def text(self) -> str:
        """The budget for people, such as `budget of user ada (for each day)`."""
        return f"budget of {self.scope} {self.subject_name or self.subject} ({_PERIOD_TEXT[self.period]})"

    def check_room(self, spent_micros: int, amount_micros: int) -> None:
        """Raises BudgetExceededError if a hard budget has no room; `spent_micros` counts charges and open holds."""
        if self.hard and spent_micros + amount_micros > self.limit_micros:
            raise BudgetExceededError(self.text, self.limit_micros, spent_micros, amount_micros)


def period_start(period: Period, now: datetime) -> datetime:
    """The instant at which the present period began: midnight UTC, Monday, the first of the month, or the epoch."""
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case Period.DAY:
            return midnight
        case Period.WEEK:
            return midnight - timedelta(days=midnight.weekday())
        case Period.MONTH:
            return midnight.replace(day=1)
        case Period.TOTAL:
            return datetime(1970, 1, 1, tzinfo=UTC)


def check_subject(scope: Scope, subject: str) -> str:
    """Gives a budget's subject back; raises InvalidFieldError if it is empty or absurdly long."""
    if not 0 < len(subject) <= 100 or not subject.isprintable():  # noqa: PLR2004 - said in the error
        raise InvalidFieldError("subject", f"must name the {scope}, in 1 to 100 printable characters")
    return subject


def check_limit(limit_micros: int) -> int:
    """Gives a budget's limit back; raises InvalidFieldError if it is negative or absurdly large."""
    return check_amount(limit_micros)
