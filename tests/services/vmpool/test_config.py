from __future__ import annotations

import re
from datetime import timedelta
from ipaddress import IPv4Network

import pytest
from pydantic import ValidationError

from servicekit.settings.config import settings_faults
from services.vmpool.config import VmPoolSettings
from services.vmpool.policy.offer_choice import OfferPolicy, SpotPolicy


def test_defaults_fit_one_host() -> None:
    settings = VmPoolSettings()
    assert (settings.port, settings.providers) == (50062, ("local",))
    assert settings.limits().max_machines == 1
    assert settings.limits().retention.idle_timeout == timedelta(seconds=600)


def test_lists_are_given_with_commas_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_PROVIDERS", "dstack, local")
    monkeypatch.setenv("VMPOOL_GPU_TYPES", "MI300X,MI210")
    settings = VmPoolSettings()
    assert (settings.providers, settings.gpu_types) == (("dstack", "local"), ("MI300X", "MI210"))


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
        ("VMPOOL_MAX_MACHINES", "1001"),
        ("AMD_VM_MAX_CONCURRENT", "-1"),
        ("AMD_VM_MAX_CONCURRENT", "99999999999999999999999"),
        ("AMD_DEFAULT_GPU", "H100"),
        ("VMPOOL_DEFAULT_GPU", "H100"),
        ("VMPOOL_LOST_AFTER", "0"),
        ("VMPOOL_LOST_AFTER", "2"),
        ("VMPOOL_RESERVED_LOST_AFTER", "5"),
        ("VMPOOL_LONGEST_RESERVATION", "59"),
        ("VMPOOL_LEASE_DURATION", "3601"),
        ("VMPOOL_GPU_TYPES", " , "),
        ("VMPOOL_PROVIDERS", " , "),
        ("VMPOOL_POOL_NAME", "Not A Name"),
    ],
)
def test_senseless_values_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as refused:
        VmPoolSettings()
    assert re.search(f"{name}|{name.removeprefix('VMPOOL_').lower()}", settings_faults(refused.value))


def test_the_pool_policy_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_KEEP_WARM", "Mon-Fri 08:00-18:00 Europe/Berlin MI300X=1")
    monkeypatch.setenv("VMPOOL_IDLE_TIMEOUTS", '{"mi210": 30}')
    monkeypatch.setenv("VMPOOL_BACKENDS", "hotaisle, amddevcloud")
    monkeypatch.setenv("VMPOOL_MAX_PRICE", "2.50")
    monkeypatch.setenv("VMPOOL_SPOT_POLICY", "auto")
    monkeypatch.setenv("VMPOOL_GPUS_PER_MACHINE", "8,1")
    limits = VmPoolSettings().limits()
    assert limits.retention.timeout_of("MI210") == timedelta(seconds=30)
    assert [window.counts for window in limits.keep_warm] == [(("MI300X", 1),)]
    assert limits.offers == OfferPolicy(("hotaisle", "amddevcloud"), SpotPolicy.AUTO, 2_500_000, 8)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("VMPOOL_KEEP_WARM", "Mo 08:00-18:00 UTC MI300X=1", "nearest is Mon"),
        ("VMPOOL_IDLE_TIMEOUTS", '{"MI301": 1}', "idle_timeouts: .*nearest is MI30"),
        ("VMPOOL_IDLE_TIMEOUTS", '{"MI300X": -1}', "idle_timeouts"),
        ("VMPOOL_GPUS_PER_MACHINE", "1,9", "gpus_per_machine: must be one of 1, 2, 4, 8; .*nearest is 8"),
        ("VMPOOL_SURPLUS_SHARE", "1.5", "surplus_share"),
        ("VMPOOL_MAX_PRICE", "-1", "max_price"),
        ("VMPOOL_SPOT_POLICY", "sometimes", "spot_policy"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_with_what_can(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError, match=words):
        VmPoolSettings()


@pytest.mark.parametrize(
    ("providers", "most"), [("local", 1), ("docker", 1), ("dstack", 3), ("dstack,local", 1), ("cellar", 3)]
)
def test_without_a_limit_rented_machines_may_be_three_and_those_on_one_host_one(
    monkeypatch: pytest.MonkeyPatch, providers: str, most: int
) -> None:
    monkeypatch.setenv("VMPOOL_PROVIDERS", providers)
    assert VmPoolSettings().limits().max_machines == most


def test_the_default_gpu_is_the_first_type_or_the_one_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_GPU_TYPES", "MI210,MI300X")
    assert VmPoolSettings().default_gpu_type() == "MI210"
    monkeypatch.setenv("AMD_DEFAULT_GPU", "mi300x")
    assert VmPoolSettings().default_gpu_type() == "MI300X"
    monkeypatch.setenv("AMD_DEFAULT_GPU", "MI30")
    with pytest.raises(ValidationError, match=r"default_gpu: must be one of MI210, MI300X; it is 'MI30'.*MI300X"):
        VmPoolSettings()


def test_a_network_with_an_address_of_a_machine_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_MACHINE_NETWORK", "10.128.0.0/20")
    assert VmPoolSettings().machine_network == IPv4Network("10.128.0.0/20")
    for wrong in ("10.128.0.7/20", "fd00::/8", "all"):
        monkeypatch.setenv("VMPOOL_MACHINE_NETWORK", wrong)
        with pytest.raises(ValidationError, match="machine_network"):
            VmPoolSettings()
