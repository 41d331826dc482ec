from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.vmpool.providers.docker_settings import DockerSettings

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
