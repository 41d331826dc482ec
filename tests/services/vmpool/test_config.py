from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from services.vmpool.config import VmPoolSettings


def test_defaults_fit_one_host() -> None:
    settings = VmPoolSettings()
    assert (settings.port, settings.providers) == (50062, ("local",))
    assert settings.limits().max_machines == 1
    assert settings.limits().retention.idle_timeout == timedelta(seconds=600)


def test_providers_are_given_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_PROVIDERS", "dstack, local")
    assert VmPoolSettings().providers == ("dstack", "local")


def test_seed_names_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_VM_MAX_CONCURRENT", "3")
    monkeypatch.setenv("AMD_VM_IDLE_TIMEOUT", "60")
    limits = VmPoolSettings().limits()
    assert (limits.max_machines, limits.retention.idle_timeout) == (3, timedelta(seconds=60))


def test_our_names_win_over_seed_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_VM_MAX_CONCURRENT", "3")
    monkeypatch.setenv("VMPOOL_MAX_MACHINES", "0")
    assert VmPoolSettings().limits().max_machines == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VMPOOL_IDLE_TIMEOUT", "-1"),
        ("VMPOOL_MAX_MACHINES", "-1"),
        ("VMPOOL_LOST_AFTER", "0"),
        ("VMPOOL_PROVIDERS", " , "),
        ("VMPOOL_POOL_NAME", "Not A Name"),
    ],
)
def test_senseless_values_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=f"(?i){name}|{name.removeprefix('VMPOOL_')}"):
        VmPoolSettings()
