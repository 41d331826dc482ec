from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.billing.config import BillingSettings


def test_defaults_are_the_published_ones() -> None:
    settings = BillingSettings()
    assert settings.port == 50064
    assert settings.grant_micros() == 1_400_000_000
    assert settings.budget().threshold_permille == 800
    assert settings.prices().price_of("MI300X") == 1_990_000


def test_the_machine_budget_is_the_grant_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_GRANT_CREDITS_TOTAL", "12")
    assert BillingSettings().machine_budget_micros() == 12_000_000
    monkeypatch.setenv("BILLING_MACHINE_BUDGET", "0")
    assert BillingSettings().machine_budget_micros() == 0


def test_every_gpu_type_of_the_field_has_a_price() -> None:
    assert set(BillingSettings().prices().micros_per_hour) == {"MI300X", "MI210", "MI250X", "MI300A"}


def test_seed_names_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_MI300X_HOURLY_RATE", "2.50")
    monkeypatch.setenv("AMD_GRANT_CREDITS_TOTAL", "12.34")
    monkeypatch.setenv("AMD_COST_ALERT_THRESHOLD", "0.5")
    settings = BillingSettings()
    assert settings.prices().price_of("MI300X") == 2_500_000
    assert settings.grant_micros() == 12_340_000
    assert settings.budget().threshold_permille == 500


def test_our_names_win_over_seed_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_MI300X_HOURLY_RATE", "2.50")
    monkeypatch.setenv("BILLING_MI300X_HOURLY_RATE", "3")
    assert BillingSettings().prices().price_of("MI300X") == 3_000_000


def test_other_prices_are_set_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_HOURLY_RATES", '{"MI210": "0.99"}')
    prices = BillingSettings().prices()
    assert (prices.price_of("MI210"), prices.price_of("MI250X")) == (990_000, 1_990_000)


def test_a_negative_price_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_HOURLY_RATES", '{"MI210": -1}')
    with pytest.raises(ValidationError, match="MI210"):
        BillingSettings()
