from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from servicekit.settings.config import settings_faults
from services.vmpool.providers.docker import settings
from services.vmpool.providers.docker.settings import DockerSettings
from services.vmpool.providers.provider import Order

ORDER = Order("mach_1", "MI300X", 1, "a-token")
HOSTS = ["unix:///var/run/docker.sock", "tcp://10.0.0.7:2375", "ssh://root@gpu-host", "ssh://gpu-host:22"]


@pytest.mark.parametrize("host", HOSTS)
def test_an_engine_is_named_by_its_address(host: str) -> None:
    assert DockerSettings(host=host).host == host


@pytest.mark.parametrize(
    "host", ["xyz", "", "/var/run/docker.sock", "tcp://10.0.0.7", "ssh://", "ftp://a:1", "unix://a"]
)
def test_what_is_no_address_of_an_engine_is_refused(host: str) -> None:
    with pytest.raises(ValidationError, match="must be unix:///path, tcp://host:port or ssh://user@host"):
        DockerSettings(host=host)


def test_executors_are_to_make_real_sandboxes_unless_told_otherwise() -> None:
    arguments = DockerSettings().plan("pool").arguments(ORDER)
    assert arguments["environment"]["EXECUTOR_SANDBOX"] == "required"
    assert {"SYS_ADMIN", "NET_ADMIN", "NET_BIND_SERVICE"} < set(arguments["cap_add"])
    assert "no-new-privileges:true" in arguments["security_opt"]


def test_a_container_gets_the_network_device_of_sessions_if_the_engine_is_here_and_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tun = tmp_path / "tun"
    monkeypatch.setattr(settings, "TUN", tun)

    def devices(**changes: Any) -> list[str]:
        return DockerSettings(**changes).plan("pool").arguments(ORDER)["devices"]

    given = f"{tun}:{tun}:rwm"
    assert devices() == []
    tun.touch()
    assert devices() == [given]
    assert devices(devices=f"/dev/kfd,{tun}") == ["/dev/kfd:/dev/kfd:rwm", given]
    assert devices(host="ssh://gpu-host") == []
    assert devices(privileged_boxes=False, environment={"EXECUTOR_SANDBOX": "process"}) == []


def test_a_container_without_privileges_takes_a_weaker_sandbox_in_so_many_words() -> None:
    with pytest.raises(ValidationError, match=r"VMPOOL_DOCKER_PRIVILEGED_BOXES is false.*VMPOOL_DOCKER_ENVIRONMENT="):
        DockerSettings(privileged_boxes=False)
    settings = DockerSettings(privileged_boxes=False, environment={"EXECUTOR_SANDBOX": "process"})
    arguments = settings.plan("pool").arguments(ORDER)
    assert arguments["environment"]["EXECUTOR_SANDBOX"] == "process"
    assert "cap_add" not in arguments


def test_a_bad_setting_of_sandboxes_in_the_executor_s_environment_is_refused_with_both_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VMPOOL_DOCKER_ENVIRONMENT", '{"AMD_CONTAINER_MEMORY_LIMIT": "lots"}')
    monkeypatch.setenv("EXECUTOR_BOX_MEMORY", "8g")
    with pytest.raises(ValidationError) as refused:
        DockerSettings()
    said = settings_faults(refused.value)
    assert said.startswith("VMPOOL_DOCKER_ENVIRONMENT: AMD_CONTAINER_MEMORY_LIMIT: must be an amount of memory")


def test_a_container_without_privileges_is_refused_if_our_environment_asks_for_a_real_sandbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AMD_CONTAINER_ISOLATION", "true")
    with pytest.raises(ValidationError, match="VMPOOL_DOCKER_PRIVILEGED_BOXES is false"):
        DockerSettings(privileged_boxes=False)
