from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from services.vmpool.providers.local.settings import LocalSettings


def test_a_local_machine_costs_nothing_unless_the_operator_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LocalSettings().price_micros_per_hour() == 0
    monkeypatch.setenv("VMPOOL_LOCAL_HOURLY_RATE", "1.99")
    assert LocalSettings().price_micros_per_hour() == 1_990_000


def test_durations_are_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_LOCAL_START_TIMEOUT", "90")
    assert LocalSettings().start_timeout == timedelta(seconds=90)


@pytest.mark.parametrize(("name", "value"), [("HOURLY_RATE", "-0.01"), ("EXECUTOR_PORT", "70000"), ("STOP_GRACE", "0")])
def test_senseless_values_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"VMPOOL_LOCAL_{name}", value)
    with pytest.raises(ValidationError, match=f"(?i){name}"):
        LocalSettings()
