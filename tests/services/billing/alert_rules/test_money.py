from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.alert_rules.money import (
    LONGEST_FORECAST_DAYS,
    AccountSpending,
    Spending,
    Windows,
    account_readings,
    credit_alert,
    money_rules,
    operator_readings,
    spent_share,
)
from services.billing.alert_rules.rule import Severity, summary_of
from services.billing.ledger.books import Balance

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WINDOWS = Windows(burn=timedelta(hours=1))
DOLLAR = 1_000_000


def test_each_threshold_of_the_list_is_a_rule_of_its_own_for_accounts_cloud_and_budget() -> None:
    rules = {rule.name: rule for rule in money_rules([0.5, 0.8, 0.95], None, None, 0)}
    assert len(rules) == 12
    severities = [rules[f"account-credit-spent-{percent}"].severity for percent in (50, 80, 95)]
    assert severities == [Severity.INFO, Severity.WARNING, Severity.CRITICAL]


def test_a_rate_without_a_limit_and_a_forecast_of_no_days_have_no_rule() -> None:
    names = [rule.name for rule in money_rules([0.8], 3.0, None, 7)]
    assert names[4:] == ["operator-burn-rate", "cloud-credit-ends-soon", "account-credit-ends-soon"]


@pytest.mark.parametrize(
    ("charged", "at", "fired"),
    [(0, 0.5, False), (499_999, 0.5, False), (500_000, 0.5, True), (799_999, 0.5, True), (950_000, 0.95, True)],
)
def test_a_balance_is_at_the_highest_threshold_that_it_has_reached(charged: int, at: float, fired: bool) -> None:
    balance = Balance(granted_micros=DOLLAR, charged_micros=charged)
    assert credit_alert(balance, [0.5, 0.8, 0.95]) == (at, fired)


def test_credit_that_expired_is_not_there_to_be_spent() -> None:
    balance = Balance(granted_micros=2 * DOLLAR, expired_micros=DOLLAR, charged_micros=800_000)
    assert credit_alert(balance, [0.8]) == (0.8, True)


@given(st.integers(0, DOLLAR), st.integers(0, DOLLAR))
def test_what_is_on_hold_counts_like_what_is_charged_however_a_charge_moves_it(charged: int, held: int) -> None:
    balance = Balance(granted_micros=DOLLAR, charged_micros=charged, held_micros=held)
    assert credit_alert(balance, [0.8]) == (0.8, charged + held >= 800_000)
    spent = account(granted_micros=DOLLAR, spent_micros=charged, held_micros=held)
    settled = account(granted_micros=DOLLAR, spent_micros=charged + held)
    shares = [next(account_readings(one, WINDOWS, NOW)).value for one in (spent, settled)]
    assert shares == [spent_share(DOLLAR, charged + held)] * 2


def test_an_account_without_credit_has_spent_nothing_until_it_spends() -> None:
    assert (spent_share(0, 0), spent_share(0, 1)) == (0.0, 1.0)


@given(st.integers(1, 10**15), st.integers(1, 1000))
def test_a_share_reaches_its_threshold_at_the_very_micro_dollar(granted: int, permille: int) -> None:
    least = -(-granted * permille // 1000)
    assert spent_share(granted, least) >= permille / 1000
    if granted < 10**12:  # beyond a million dollars a float cannot tell one micro-dollar
        assert spent_share(granted, least - 1) < permille / 1000


def account(**spending: int) -> AccountSpending:
    return AccountSpending("acct_1", "ada", Spending(**spending))


def test_an_account_gets_its_share_its_rate_and_its_forecast() -> None:
    spent = account(granted_micros=10 * DOLLAR, spent_micros=4 * DOLLAR, burn_micros=DOLLAR, forecast_micros=2 * DOLLAR)
    share, rate, days = account_readings(spent, WINDOWS, NOW)
    assert (share.value, rate.value, days.value) == (0.4, 1.0, 3.0)
    assert {dict(reading.labels)["account"] for reading in (share, rate, days)} == {"acct_1"}


def test_a_summary_says_what_a_person_wants_to_know() -> None:
    spent = account(granted_micros=10 * DOLLAR, spent_micros=9 * DOLLAR, forecast_micros=DOLLAR)
    share, _, days = account_readings(spent, WINDOWS, NOW)
    rules = {rule.name: rule for rule in money_rules([0.8], None, None, 7)}
    assert summary_of(rules["account-credit-spent-80"], share) == "ada has spent $9.00 of its credit of $10.00 (90.0%)."
    assert summary_of(rules["account-credit-ends-soon"], days) == (
        "At this rate ($1.00 a day) the credit of ada ends on 2026-01-02: $1.00 is left."
    )


def test_a_summary_tells_what_is_on_hold_from_what_is_spent() -> None:
    spent = account(granted_micros=10 * DOLLAR, spent_micros=4 * DOLLAR, held_micros=5 * DOLLAR)
    rules = {rule.name: rule for rule in money_rules([0.8], None, None, 0)}
    assert summary_of(rules["account-credit-spent-80"], next(account_readings(spent, WINDOWS, NOW))) == (
        "ada has spent $4.00 of its credit of $10.00, and $5.00 is on hold (90.0%)."
    )


def test_who_spends_nothing_is_never_forecast_to_end() -> None:
    *_, days = account_readings(account(granted_micros=DOLLAR, spent_micros=1), WINDOWS, NOW)
    assert days.value == LONGEST_FORECAST_DAYS


def test_credit_that_is_gone_ends_today_even_if_nothing_is_spent_any_more() -> None:
    *_, days = account_readings(account(granted_micros=DOLLAR, spent_micros=DOLLAR), WINDOWS, NOW)
    assert days.value == 0


def test_the_operator_is_told_of_cost_against_the_cloud_credit_and_a_budget_of_its_own() -> None:
    cloud = Spending(1400 * DOLLAR, 700 * DOLLAR, burn_micros=4 * DOLLAR, forecast_micros=100 * DOLLAR)
    windows = Windows(burn=timedelta(hours=2))
    values = {reading.name: reading.value for reading in operator_readings(cloud, 1000 * DOLLAR, windows, NOW)}
    assert values == {
        "operator.cloud_credit_spent_share": 0.5,
        "operator.cloud_credit_days_left": 7.0,
        "operator.machine_budget_spent_share": 0.7,
        "operator.burn_rate_usd_per_hour": 2.0,
    }


def test_without_cloud_credit_there_is_no_share_of_it() -> None:
    names = [reading.name for reading in operator_readings(Spending(0, DOLLAR), None, WINDOWS, NOW)]
    assert names == ["operator.burn_rate_usd_per_hour"]
