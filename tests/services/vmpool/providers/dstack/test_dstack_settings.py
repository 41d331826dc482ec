from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from servicekit.settings.config import settings_faults
from services.vmpool.config import VmPoolSettings
from services.vmpool.policy.offer_choice import SpotPolicy
from services.vmpool.providers.dstack.settings import DstackSettings
from services.vmpool.providers.plugins import PoolContext

CONTEXT = PoolContext("wavepool", Path("data"), ("MI300X",), timedelta(minutes=10))


def context_of(**settings: Any) -> PoolContext:
    """The context that a pool with these settings gives to the provider."""
    pool = VmPoolSettings(**settings)
    return PoolContext(
        "wavepool", Path("data"), ("MI300X",), timedelta(minutes=10), pool.offers(), pool.gpus_per_machine
    )


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VMPOOL_DSTACK_TOKEN", "t0ken")


def test_a_token_is_all_that_is_needed() -> None:
    config = DstackSettings().config(CONTEXT)
    assert (config.server.url, config.server.project, config.server.token) == ("http://127.0.0.1:3000", "main", "t0ken")
    assert (config.fleet.name, config.market.backends) == ("wavepool", ("amddevcloud", "hotaisle"))
    assert config.max_duration > timedelta(0)
    assert config.agent.environment == {"EXECUTOR_DEVICE": "rocm", "EXECUTOR_SANDBOX": "required"}
    assert config.agent.privileged


def test_what_may_be_rented_is_what_the_pool_s_settings_say() -> None:
    context = context_of(
        backends=("local", "dstack/remote", "hotaisle"),
        spot_policy="auto",
        max_price=Decimal("2.4999999"),
        gpus_per_machine=(8, 1),
    )
    config = DstackSettings().config(context)
    assert (config.market.backends, config.market.spot_policy) == (("remote", "hotaisle"), SpotPolicy.AUTO)
    assert (config.market.gpu_counts, config.market.max_price_micros_per_gpu_hour) == ((8, 1), 2_500_000)
    assert config.market.max_price_micros_per_hour(8) == 20_000_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("BACKENDS", "VMPOOL_BACKENDS"),
        ("SPOT_POLICY", "VMPOOL_SPOT_POLICY"),
        ("MAX_HOURLY_PRICE", "VMPOOL_MAX_PRICE"),
        ("GPU_COUNTS", "VMPOOL_GPUS_PER_MACHINE"),
    ],
)
def test_nothing_is_rented_while_a_limit_is_set_by_a_name_that_is_read_no_more(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    monkeypatch.setenv(f"VMPOOL_DSTACK_{old}", "1")
    with pytest.raises(ValidationError) as refused:
        DstackSettings()
    assert f"VMPOOL_DSTACK_{old} is read no more: set {new}" in settings_faults(refused.value)


def test_everything_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "SERVER_URL": "https://sky.example/dstack",
        "REGIONS": "us-michigan-1",
        "FLEET_NAME": "shared",
        "MAX_DURATION": "3600",
        "MINIMUM_BILLED": "hotaisle=7200",
        "BILLING_INCREMENT": "hotaisle=60, remote=1",
        "COMMANDS": '["cd /opt", "exec executor"]',
        "ENVIRONMENT": '{"EXECUTOR_DEVICE": "sim", "EXTRA": "1"}',
        "ENDS_WITH_POOL": "false",
    }.items():
        monkeypatch.setenv(f"VMPOOL_DSTACK_{name}", value)
    config = DstackSettings().config(CONTEXT)
    market = config.market
    assert market.regions == ("us-michigan-1",)
    assert market.minimum_of("hotaisle") == timedelta(hours=2)
    assert market.minimum_of("remote") == timedelta(0)
    assert market.increment_of("hotaisle") == timedelta(minutes=1)
    assert config.agent.commands == ("cd /opt", "exec executor")
    assert config.agent.environment == {"EXECUTOR_DEVICE": "sim", "EXECUTOR_SANDBOX": "required", "EXTRA": "1"}
    assert (config.fleet.name, config.max_duration, config.ends_with_pool) == ("shared", timedelta(hours=1), False)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("MAX_DURATION", "0", "greater than 0"),
        ("MINIMUM_BILLED", "hotaisel=60", "the nearest is hotaisle"),
        ("MINIMUM_BILLED", "hotaisle", "lacks a backend, `=` and seconds"),
        ("MINIMUM_BILLED", "hotaisle=two hours", "must be a backend, `=` and seconds"),
        ("BILLING_INCREMENT", "hotaisle=0", "hotaisle must be more than 0 s"),
        ("SERVER_URL", "localhost:3000", "match pattern"),
        ("FLEET_NAME", "Our Fleet", "match pattern"),
        ("TOKEN", "", "is empty: set it to a user's token"),
        ("EXECUTOR_PORT", "0", "greater than 0"),
        ("PRIVILEGED", "false", "makes no real sandbox: leave it true, or accept .*VMPOOL_DSTACK_ENVIRONMENT="),
    ],
)
def test_a_wrong_setting_is_named_with_what_would_be_right(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"VMPOOL_DSTACK_{name}", value)
    with pytest.raises(ValidationError, match=rf"(?is){name}.*{said}"):
        DstackSettings()


@pytest.mark.parametrize("choice", [("EXECUTOR_SANDBOX", "process"), ("AMD_CONTAINER_ISOLATION", "false")])
def test_a_weaker_sandbox_is_the_operator_s_choice(monkeypatch: pytest.MonkeyPatch, choice: tuple[str, str]) -> None:
    monkeypatch.setenv("VMPOOL_DSTACK_PRIVILEGED", "false")
    monkeypatch.setenv("VMPOOL_DSTACK_ENVIRONMENT", json.dumps(dict([choice])))
    agent = DstackSettings().config(CONTEXT).agent
    assert not agent.privileged
    assert agent.environment == dict([("EXECUTOR_DEVICE", "rocm"), choice])


def test_no_error_and_no_repr_shows_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "t0ken" not in repr(DstackSettings().config(CONTEXT))
    monkeypatch.setenv("VMPOOL_DSTACK_ENVIRONMENT", '{"KEY": ["s3cret"]}')
    with pytest.raises(ValidationError) as refused:
        DstackSettings()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("CPU", "8..", "x86:8.."),
        ("CPU", "arm: 16..64", "arm:16..64"),
        ("CPU", "8", "x86:8"),
        ("MEMORY", "64GB..", "64GB.."),
        ("DISK", "500GB .. 2TB", "500GB..2TB"),
    ],
)
def test_sizes_of_machines_are_ranges_in_dstack_s_words(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, read: str
) -> None:
    monkeypatch.setenv(f"VMPOOL_DSTACK_{name}", value)
    assert getattr(DstackSettings().market(CONTEXT), name.lower()) == read


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("CPU", "many"), ("MEMORY", "64 gigs"), ("DISK", ".."), ("DISK", "2TB..1TB"), ("DISK", "1..2..3")],
        *[("DISK", "-5GB"), ("DISK", "0GB"), ("DISK", "0GB.."), ("DISK", "-5GB..10GB"), ("DISK", "99999999TB")],
        *[("MEMORY", "..0GB"), ("MEMORY", "nanGB"), ("CPU", "0"), ("CPU", "arm:0.."), ("CPU", "8..9999999")],
    ],
)
def test_sizes_that_dstack_does_not_read_are_refused_with_an_example(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"VMPOOL_DSTACK_{name}", value)
    with pytest.raises(ValidationError) as refused:
        DstackSettings()
    said = settings_faults(refused.value)
    assert said.startswith(f"VMPOOL_DSTACK_{name}: must be a ")
    assert "such as" in said


def test_the_names_that_people_bring_along_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DSTACK_BACKEND", "amddevcloud")
    monkeypatch.setenv("DSTACK_AMDDEVCLOUD_API_KEY", "dop_v1_secret")
    settings = DstackSettings()
    assert settings.market(CONTEXT).backends == ("amddevcloud",)
    assert settings.market(context_of(backends=("hotaisle",))).backends == ("hotaisle",)
    assert settings.server().amddevcloud_key == "dop_v1_secret"
    assert "dop_v1_secret" not in f"{settings!r} {settings.server()!r}"
    monkeypatch.setenv("DSTACK_BACKEND", "amddevcluod")
    with pytest.raises(ValidationError) as refused:
        DstackSettings()
    assert "the nearest is amddevcloud" in settings_faults(refused.value)
