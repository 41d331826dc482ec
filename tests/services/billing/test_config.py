from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from servicekit.settings.config import settings_faults
from services.billing.config import BillingSettings
from vocabulary.gpu_types import GPU_TYPES
from vocabulary.money import Tariff


def test_defaults_are_the_published_ones() -> None:
    settings = BillingSettings()
    assert settings.port == 50064
    assert settings.grant_micros() == 1_400_000_000
    assert settings.thresholds() == (0.8,)
    assert settings.price_tariffs() == dict.fromkeys(GPU_TYPES, Tariff(1_990_000))


def test_the_machine_budget_is_the_grant_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_GRANT_CREDITS_TOTAL", "12")
    assert BillingSettings().machine_budget_micros() == 12_000_000
    monkeypatch.setenv("BILLING_MACHINE_BUDGET", "0")
    assert BillingSettings().machine_budget_micros() == 0


def test_the_price_list_has_what_the_pool_may_be_asked_for_and_the_default_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VMPOOL_GPU_TYPES", "MI300X,MI325X")
    monkeypatch.setenv("AMD_DEFAULT_GPU", "mi325x")
    monkeypatch.setenv("BILLING_HOURLY_RATES", '{"mi325x": "2.29"}')
    assert list(BillingSettings().price_tariffs().items()) == [
        ("MI325X", Tariff(2_290_000)),
        ("MI300X", Tariff(1_990_000)),
    ]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("BILLING_HOURLY_RATES", '{"MI32": 2}', "hourly_rates: must be one of MI300X, MI325X; .* nearest is MI325X"),
        ("BILLING_HOURLY_RATES", '{"MI300X": 2}', "hourly_rates: leave MI300X out; .*BILLING_MI300X_HOURLY_RATE"),
        ("VMPOOL_DEFAULT_GPU", "MI210", "VMPOOL_DEFAULT_GPU: must be one of MI300X, MI325X"),
    ],
)
def test_prices_and_a_default_of_types_that_nobody_may_ask_for_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv("VMPOOL_GPU_TYPES", "MI300X,MI325X")
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=said):
        BillingSettings()


def test_seed_names_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_MI300X_HOURLY_RATE", "2.50")
    monkeypatch.setenv("AMD_GRANT_CREDITS_TOTAL", "12.34")
    monkeypatch.setenv("AMD_COST_ALERT_THRESHOLD", "0.5")
    settings = BillingSettings()
    assert settings.price_tariffs()["MI300X"] == Tariff(2_500_000)
    assert settings.grant_micros() == 12_340_000
    assert settings.thresholds() == (0.5,)


def test_our_names_win_over_seed_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_MI300X_HOURLY_RATE", "2.50")
    monkeypatch.setenv("BILLING_MI300X_HOURLY_RATE", "3")
    assert BillingSettings().price_tariffs()["MI300X"] == Tariff(3_000_000)


def test_other_prices_are_set_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_HOURLY_RATES", '{"MI210": "0.99"}')
    prices = BillingSettings().price_tariffs()
    assert (prices["MI210"], prices["MI250X"]) == (Tariff(990_000), Tariff(1_990_000))


def test_a_negative_price_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_HOURLY_RATES", '{"MI210": -1}')
    with pytest.raises(ValidationError, match="MI210"):
        BillingSettings()


def test_the_longest_run_is_the_schedulers_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BillingSettings().longest_run == timedelta(minutes=15)
    monkeypatch.setenv("SCHEDULER_LONGEST_RUN", "60")
    assert BillingSettings().longest_run == timedelta(minutes=1)


def test_an_identity_provider_is_set_by_its_issuer_and_our_name_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BillingSettings().oidc_issuer == ""
    monkeypatch.setenv("BILLING_OIDC_ISSUER", "https://id.example.org/realms/lab")
    monkeypatch.setenv("BILLING_OIDC_CLIENT_ID", "wavepool")
    monkeypatch.setenv("BILLING_OIDC_SCOPES", "openid, groups")
    monkeypatch.setenv("BILLING_OIDC_TEAMS", '{"gpu-users": "research"}')
    monkeypatch.setenv("BILLING_OIDC_ROLES", '{"gpu-admins": "admin"}')
    monkeypatch.setenv("BILLING_OIDC_TOKEN_LIFETIME", "3600")
    settings = BillingSettings()
    assert settings.oidc_scopes == ("openid", "groups")
    assert (settings.oidc_teams, settings.oidc_roles) == ({"gpu-users": "research"}, {"gpu-admins": "admin"})
    assert settings.oidc_token_lifetime == timedelta(hours=1)


@pytest.mark.parametrize(
    ("setting", "value", "fault"),
    [
        ("ISSUER", "http://id.example.org", "must be an https URL; http is for this machine alone"),
        ("ISSUER", "id.example.org", "must be an https URL"),
        ("ISSUER", "https://", "must be an https URL"),
        ("CLIENT_ID", "", "BILLING_OIDC_CLIENT_ID: must be set if BILLING_OIDC_ISSUER is"),
        ("SCOPES", "profile", "must include openid"),
        ("ROLES", '{"everybody": "root"}', "Input should be 'user', 'operator' or 'admin'"),
        ("ROLES", '{"robots": "service"}', "Input should be 'user', 'operator' or 'admin'"),
        ("TOKEN_LIFETIME", "0", "BILLING_OIDC_TOKEN_LIFETIME"),
    ],
)
def test_a_wrong_identity_provider_is_refused(
    monkeypatch: pytest.MonkeyPatch, setting: str, value: str, fault: str
) -> None:
    monkeypatch.setenv("BILLING_OIDC_ISSUER", "https://id.example.org")
    monkeypatch.setenv("BILLING_OIDC_CLIENT_ID", "wavepool")
    monkeypatch.setenv(f"BILLING_OIDC_{setting}", value)
    with pytest.raises(ValidationError) as refused:
        BillingSettings()
    assert fault in settings_faults(refused.value)


def test_a_provider_on_this_machine_needs_no_certificate() -> None:
    for host in ("127.0.0.1:9000", "localhost", "[::1]:9000"):
        assert BillingSettings(oidc_issuer=f"http://{host}", oidc_client_id="wavepool").oidc_issuer


@pytest.mark.parametrize("name", ["BILLING_COST_ALERT_THRESHOLD", "AMD_COST_ALERT_THRESHOLD"])
def test_thresholds_are_a_list(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "0.95, 0.5,0.8,0.5")
    settings = BillingSettings()
    assert settings.thresholds() == (0.5, 0.8, 0.95)
    assert [rule.threshold for rule in settings.rules() if rule.reading == "account.credit_spent_share"] == [
        0.5,
        0.8,
        0.95,
    ]


def test_rules_and_channels_may_be_in_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text('[{"name": "cloud-credit-spent-80", "enabled": false}]')
    (tmp_path / "channels.json").write_text('[{"name": "ops", "kind": "log"}]')
    monkeypatch.setenv("BILLING_ALERT_RULES", str(tmp_path / "rules.json"))
    monkeypatch.setenv("BILLING_ALERT_CHANNELS", str(tmp_path / "channels.json"))
    settings = BillingSettings()
    assert "cloud-credit-spent-80" not in {rule.name for rule in settings.rules()}
    assert settings.channels() == [{"name": "ops", "kind": "log"}]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AMD_COST_ALERT_THRESHOLD", "0.5,80", "AMD_COST_ALERT_THRESHOLD.1: Input should be less than or equal to 1"),
        ("BILLING_COST_ALERT_THRESHOLD", ",", "BILLING_COST_ALERT_THRESHOLD: Value should have at least 1 item"),
        ("BILLING_ALERT_RULES", '[{"name": "x"}]', "BILLING_ALERT_RULES: entry 0: severity: is missing"),
        ("BILLING_ALERT_RULES", "/no/such/file", "BILLING_ALERT_RULES: must be a JSON list or the path of a file"),
        ("BILLING_ALERT_CHANNELS", '[{"secret": "hush"', "BILLING_ALERT_CHANNELS: Invalid JSON"),
        ("BILLING_ALERT_CHANNELS", '["hush"]', "BILLING_ALERT_CHANNELS: entry 0: Input should be an object"),
        ("BILLING_ALERT_FORECAST_DAYS", "-1", "BILLING_ALERT_FORECAST_DAYS: Input should be greater than"),
    ],
)
def test_a_wrong_setting_of_alerts_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as error:
        BillingSettings()
    faults = settings_faults(error.value)
    assert faults.startswith(said)
    assert "hush" not in faults


def test_channels_do_not_show_in_the_settings_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLING_ALERT_CHANNELS", '[{"name": "ops", "kind": "webhook", "secret": "hush"}]')
    assert "hush" not in repr(BillingSettings())
