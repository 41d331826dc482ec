"""Readings about money, and the rules that are built in for them.

An account is warned about its credit, the operator about what machines cost. Shares run from 0 to 1 and beyond, rates
are dollars per hour, forecasts are days.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.billing.alert_rules.rule import ACCOUNT_LABEL, Comparison, Reading, Rule, Severity
from services.billing.ledger.books import Balance
from vocabulary.money import MICROS_PER_DOLLAR, dollars_text

ACCOUNT_SHARE = "account.credit_spent_share"
ACCOUNT_RATE = "account.burn_rate_usd_per_hour"
ACCOUNT_DAYS_LEFT = "account.credit_days_left"
CLOUD_SHARE = "operator.cloud_credit_spent_share"
CLOUD_RATE = "operator.burn_rate_usd_per_hour"
CLOUD_DAYS_LEFT = "operator.cloud_credit_days_left"
MACHINE_BUDGET_SHARE = "operator.machine_budget_spent_share"
BUDGET_SHARE = "budget.charged_share"

LONGEST_FORECAST_DAYS = 36_500.0
"""A hundred years: what is forecast when nothing is spent, so that every reading is a finite number."""

CRITICAL_SHARE = 0.95
WARNING_SHARE = 0.8
HYSTERESIS = 0.9
"""A burn rate or a spent share has calmed down at nine tenths of its limit: holds come and go with each job."""
FORECAST_HYSTERESIS_DAYS = 1.0
FORECAST_FOR = timedelta(minutes=30)
"""A forecast must hold that long: one job at the start of a quiet day makes none."""

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Spending:
    """What was spent of an amount: in all, in the window of the burn rate, and in the window of the forecast.

    What is on hold may still be spent. It counts for shares, and not for rates: most of it comes back.
    """

    granted_micros: int
    spent_micros: int
    burn_micros: int = 0
    forecast_micros: int = 0
    held_micros: int = 0


@dataclass(frozen=True)
class AccountSpending:
    """An account's spending of its credit."""

    account_id: str
    name: str
    spending: Spending


@dataclass(frozen=True)
class BudgetSpending:
    """What was charged of a budget in its present period; `account_id` is empty if it is not one of an account."""

    budget_id: str
    text: str
    account_id: str
    spending: Spending


@dataclass(frozen=True)
class Windows:
    """Over how long a rate is measured: short for the burn rate, long for the forecast."""

    burn: timedelta
    forecast: timedelta = _DAY


def spent_share(granted_micros: int, spent_micros: int) -> float:
    """The share that is spent; 0 if nothing is, 1 or more if something is and nothing was granted."""
    if spent_micros <= 0:
        return 0.0
    return spent_micros / granted_micros if granted_micros > 0 else 1.0


def credit_alert(balance: Balance, thresholds: Sequence[float]) -> tuple[float, bool]:
    """The threshold that an account's balance is at, and whether it is reached.

    That is the highest one reached, or the lowest if none is. Holds count: they can all be charged at once.
    """
    used_micros = balance.charged_micros + balance.held_micros
    share = spent_share(balance.granted_micros - balance.expired_micros, used_micros)
    reached = [threshold for threshold in thresholds if share >= threshold]
    return (max(reached), True) if reached else (min(thresholds), False)


def account_share_reading(account: AccountSpending, now: datetime) -> Reading:
    """How much of its credit an account has spent."""
    labels, details = {ACCOUNT_LABEL: account.account_id}, {"account_name": account.name}
    return _share_reading(ACCOUNT_SHARE, account.spending, now, labels, details)


def account_readings(account: AccountSpending, windows: Windows, now: datetime) -> Iterator[Reading]:
    """All readings of an account."""
    yield account_share_reading(account, now)
    labels, details = {ACCOUNT_LABEL: account.account_id}, {"account_name": account.name}
    yield _rate_reading(ACCOUNT_RATE, account.spending, windows, now, labels, details)
    yield _forecast_reading(ACCOUNT_DAYS_LEFT, account.spending, windows, now, labels, details)


def budget_reading(budget: BudgetSpending, now: datetime) -> Reading:
    """How much of a budget is charged or on hold."""
    labels = {"budget": budget.budget_id} | ({ACCOUNT_LABEL: budget.account_id} if budget.account_id else {})
    return _share_reading(BUDGET_SHARE, budget.spending, now, labels, {"budget": budget.text})


def operator_readings(
    cloud: Spending, machine_budget_micros: int | None, windows: Windows, now: datetime
) -> Iterator[Reading]:
    """All readings of the operator: machine cost against the cloud's credit, and against a budget of its own."""
    if cloud.granted_micros > 0:
        yield _share_reading(CLOUD_SHARE, cloud, now, {}, {})
        yield _forecast_reading(CLOUD_DAYS_LEFT, cloud, windows, now, {}, {})
    if machine_budget_micros is not None:
        yield _share_reading(MACHINE_BUDGET_SHARE, Spending(machine_budget_micros, cloud.spent_micros), now, {}, {})
    yield _rate_reading(CLOUD_RATE, cloud, windows, now, {}, {})


def money_rules(
    thresholds: Sequence[float],
    burn_rate_usd: float | None,
    account_burn_rate_usd: float | None,
    forecast_days: float,
) -> list[Rule]:
    """The built-in rules; a rate without a limit has none, and a forecast of 0 days has none."""
    rules = [rule for threshold in sorted(set(thresholds)) for rule in _share_rules(threshold)]
    for name, reading, limit, whose in (
        ("operator-burn-rate", CLOUD_RATE, burn_rate_usd, "Machines cost"),
        ("account-burn-rate", ACCOUNT_RATE, account_burn_rate_usd, "{account_name} spends"),
    ):
        if limit is not None:
            rules.append(
                Rule(
                    name,
                    Severity.WARNING,
                    reading,
                    Comparison.ABOVE,
                    limit,
                    limit * HYSTERESIS,
                    timedelta(0),
                    f"{whose} {{rate}} an hour, which is more than ${limit:,.2f}.",
                )
            )
    if forecast_days > 0:
        rules += [
            _forecast_rule("cloud-credit-ends-soon", CLOUD_DAYS_LEFT, Severity.WARNING, forecast_days, "cloud credit"),
            _forecast_rule(
                "account-credit-ends-soon", ACCOUNT_DAYS_LEFT, Severity.INFO, forecast_days, "credit of {account_name}"
            ),
        ]
    return rules


def share_rule_name(kind: str, threshold: float) -> str:
    """The name of a rule about a share, such as `account-credit-spent-80`."""
    return f"{kind}-spent-{threshold * 100:g}"


def _share_rules(threshold: float) -> Iterator[Rule]:
    severity = Severity.INFO if threshold < WARNING_SHARE else Severity.WARNING
    severity = Severity.CRITICAL if threshold >= CRITICAL_SHARE else severity
    for kind, reading, text in (
        (
            "account-credit",
            ACCOUNT_SHARE,
            "{account_name} has spent {spent} of its credit of {granted}{held} ({percent}).",
        ),
        ("cloud-credit", CLOUD_SHARE, "Machines have cost {spent} of the cloud credit of {granted} ({percent})."),
        (
            "machine-budget",
            MACHINE_BUDGET_SHARE,
            "Machines have cost {spent} of their budget of {granted} ({percent}).",
        ),
        ("budget", BUDGET_SHARE, "Of the {budget}, {spent} of {granted} are charged{held} ({percent})."),
    ):
        yield Rule(
            share_rule_name(kind, threshold),
            severity,
            reading,
            Comparison.AT_LEAST,
            threshold,
            threshold * HYSTERESIS,
            timedelta(0),
            text,
        )


def _forecast_rule(name: str, reading: str, severity: Severity, days: float, what: str) -> Rule:
    text = f"At this rate ({{rate}} a day) the {what} ends on {{end_date}}: {{left}} is left."
    clear = days + FORECAST_HYSTERESIS_DAYS
    return Rule(name, severity, reading, Comparison.AT_MOST, days, clear, FORECAST_FOR, text)


def _share_reading(
    name: str, spending: Spending, now: datetime, labels: dict[str, str], details: dict[str, str]
) -> Reading:
    share = spent_share(spending.granted_micros, spending.spent_micros + spending.held_micros)
    figures = {
        "spent": dollars_text(spending.spent_micros),
        "held": f", and {dollars_text(spending.held_micros)} is on hold" if spending.held_micros else "",
        "granted": dollars_text(spending.granted_micros),
        "percent": f"{share:.1%}",
    }
    return Reading(name, share, now, labels, details | figures)


def _rate_reading(
    name: str, spending: Spending, windows: Windows, now: datetime, labels: dict[str, str], details: dict[str, str]
) -> Reading:
    dollars_per_hour = spending.burn_micros / MICROS_PER_DOLLAR / (windows.burn / _HOUR)
    return Reading(name, dollars_per_hour, now, labels, details | {"rate": f"${dollars_per_hour:,.2f}"})


def _forecast_reading(
    name: str, spending: Spending, windows: Windows, now: datetime, labels: dict[str, str], details: dict[str, str]
) -> Reading:
    left = spending.granted_micros - spending.spent_micros
    per_day = spending.forecast_micros / (windows.forecast / _DAY)
    if spending.spent_micros > 0 and left <= 0:
        days = 0.0
    else:
        days = min(left / per_day, LONGEST_FORECAST_DAYS) if per_day > 0 else LONGEST_FORECAST_DAYS
    figures = {
        "rate": f"${per_day / MICROS_PER_DOLLAR:,.2f}",
        "left": dollars_text(max(0, left)),
        "end_date": f"{now + timedelta(days=days):%Y-%m-%d}",
    }
    return Reading(name, days, now, labels, details | figures)
