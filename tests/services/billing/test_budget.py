from __future__ import annotations

import pytest

from services.billing.alert_rules.budget import AlertChange, Budget
from services.billing.ledger.books import Balance

BUDGET = Budget(threshold_permille=800)


@pytest.mark.parametrize(
    ("charged", "fired", "change"),
    [
        (799_999, False, AlertChange.NONE),
        (800_000, False, AlertChange.FIRE),
        (900_000, True, AlertChange.NONE),
        (799_999, True, AlertChange.REARM),
    ],
)
def test_the_alert_fires_once_at_the_threshold(charged: int, fired: bool, change: AlertChange) -> None:
    assert BUDGET.alert_change(Balance(granted_micros=1_000_000, charged_micros=charged), fired=fired) is change


def test_holds_do_not_fire_the_alert() -> None:
    assert not BUDGET.is_exceeded(Balance(granted_micros=1_000_000, held_micros=1_000_000))


def test_an_account_without_credit_is_not_over_its_budget_until_it_spends() -> None:
    assert not BUDGET.is_exceeded(Balance())
    assert BUDGET.is_exceeded(Balance(charged_micros=1))
