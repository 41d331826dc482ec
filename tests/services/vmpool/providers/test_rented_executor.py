"""The vmpool settings that an executor on a rented machine gets."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from services.executor.config import ExecutorSettings
from services.vmpool.providers.docker.settings import DockerSettings
from services.vmpool.providers.dstack.settings import DstackSettings
from services.vmpool.providers.plugins import PoolContext
from services.vmpool.providers.provider import Order

ORDER = Order("mach_1", "MI300X", 1, "a-token")
CONTEXT = PoolContext("wavepool", Path("data"), ("MI300X",), timedelta(minutes=10))


@pytest.fixture(params=["docker", "dstack"])
def provider(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("VMPOOL_DSTACK_TOKEN", "t0ken")
    return str(request.param)


def reported(provider: str) -> Mapping[str, str]:
    """The executor's environment, as this provider makes it from ours."""
    if provider == "docker":
        environment: Mapping[str, str] = DockerSettings().plan("pool").arguments(ORDER)["environment"]
        return environment
    return DstackSettings().config(CONTEXT).agent.environment


def test_settings_of_sandboxes_reach_the_machine_by_either_name(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_CONTAINER_MEMORY_LIMIT", "8g")
    monkeypatch.setenv("AMD_CONTAINER_ISOLATION", "true")
    monkeypatch.setenv("EXECUTOR_BOX_CORES", "2.5")
    environment = reported(provider)
    for name in ("AMD_CONTAINER_MEMORY_LIMIT", "AMD_CONTAINER_ISOLATION", "EXECUTOR_BOX_CORES"):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    there = ExecutorSettings()
    assert (there.box_memory, there.box_cores, there.sandbox) == (8192, 2.5, "required")


def test_the_provider_s_own_setting_wins_whatever_the_names(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXECUTOR_BOX_MEMORY", "8g")
    monkeypatch.setenv("EXECUTOR_SANDBOX", "process")
    own = '{"AMD_CONTAINER_MEMORY_LIMIT": "4g", "EXECUTOR_SANDBOX": "bubblewrap"}'
    monkeypatch.setenv(f"VMPOOL_{provider.upper()}_ENVIRONMENT", own)
    environment = reported(provider)
    assert environment["AMD_CONTAINER_MEMORY_LIMIT"] == "4g"
    assert "EXECUTOR_BOX_MEMORY" not in environment
    assert environment["EXECUTOR_SANDBOX"] == "bubblewrap"


def test_nothing_else_of_our_environment_reaches_the_machine(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = reported(provider)
    monkeypatch.setenv("EXECUTOR_DATA_DIR", "/home/of/vmpool")
    monkeypatch.setenv("EXECUTOR_BOX_MEMORY", "")
    assert reported(provider) == before
