"""The docker provider's settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from servicekit.records import record_of
from servicekit.settings.config import CommaSeparated, Settings
from services.vmpool.providers.docker.containers import ContainerPlan
from services.vmpool.providers.docker.provider import DockerConfig, DockerProvider
from services.vmpool.providers.plugins import PoolContext
from services.vmpool.providers.rented_executor import ExecutorEnvironment, check_privileges, executor_environment
from vocabulary.money import micros_of
from vocabulary.ports import USUAL_PORTS

Positive = Annotated[timedelta, Field(gt=timedelta(0))]
NotNegative = Annotated[timedelta, Field(ge=timedelta(0))]

TUN = Path("/dev/net/tun")
_HOST = re.compile(r"unix:///\S+|(?:tcp|https?)://[^\s/:]+:\d{1,5}(?:/\S*)?|ssh://(?:[^\s/@]+@)?[^\s/:@]+(?::\d{1,5})?")


class DockerSettings(Settings):
    """Settings, read from `VMPOOL_DOCKER_*`. Durations are in seconds; lists are separated by commas."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_DOCKER_")

    host: str = "unix:///var/run/docker.sock"
    """Address of the engine: `unix:///path`, `tcp://host:port` or `ssh://user@host`."""
    image: str = "wavepool"
    """Image with the executor, as `docker compose build` makes it."""
    command: tuple[str, ...] = ("python", "-m", "services.executor")
    """Command that runs the executor in the image, as JSON."""
    executor_port: Annotated[int, Field(gt=0, le=65535)] = USUAL_PORTS["executor"]
    """Port on which the executor listens in its container."""
    publish_address: str = "127.0.0.1"
    """Address of the engine's host that the executor's port is published on. Others can reach any address but loopback,
    and only the machine's token keeps them out."""
    reach_address: str = ""
    """Address by which we reach the published port; empty: the same."""
    devices: CommaSeparated[str] = ()
    """Device nodes of the host that a container gets: `/dev/kfd,/dev/dri` for AMD GPUs. If the engine is on this host,
    a container that makes real sandboxes also gets `/dev/net/tun`, for the network of sessions."""
    groups: CommaSeparated[str] = ()
    """Groups that may use the devices, such as `video,render`; numbers are safest."""
    environment: ExecutorEnvironment = Field(default_factory=dict[str, SecretStr])
    """Settings for the executor, as JSON: `{"EXECUTOR_DEVICE": "rocm"}`. Sandbox settings that are missing come from
    our own environment; if both name no sandbox, `EXECUTOR_SANDBOX` is `required`."""
    volumes: CommaSeparated[str] = ()
    """Volumes of a container: `/on/the/host:/in/the/container:ro`."""
    memory_mib: Annotated[int, Field(ge=0)] = 0
    """Memory that a container may use, in MiB; 0: no limit."""
    privileged_boxes: bool = True
    """Lets executors make real sandboxes (bubblewrap) in their containers. They run as root with the capabilities for
    this, including CAP_SYS_ADMIN, and without the engine's seccomp and AppArmor profiles. The sandboxes get none of
    these privileges."""
    init: bool = True
    """Runs the engine's small init in front of the executor, to reap processes that runs leave behind."""
    max_containers: Annotated[int, Field(ge=1)] = 1
    """Number of containers that this host can hold. They share the devices, and two on one GPU would spoil each other's
    timings."""
    hourly_rate: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Dollars that an hour of a container costs its operator."""
    start_timeout: Positive = timedelta(seconds=180)
    stop_grace: Positive = timedelta(seconds=15)
    """Time between asking an executor to end and killing it."""
    request_timeout: Positive = timedelta(seconds=20)
    """Time limit of one call to the engine."""
    max_duration: NotNegative = timedelta(0)
    """Longest life of a container, which then ends by itself even without vmpool; 0: only the order's limit."""
    orphan_timeout: NotNegative = timedelta(minutes=15)
    """An executor that no pool has asked for this long ends by itself; 0: never."""
    ends_with_pool: bool = True
    """If true, containers are removed when vmpool stops; if false, the next vmpool takes them over."""

    @field_validator("host")
    @classmethod
    def _address(cls, value: str) -> str:
        if not _HOST.fullmatch(value):
            raise ValueError(f"must be unix:///path, tcp://host:port or ssh://user@host; it is {value!r}")
        return value

    @field_validator("volumes")
    @classmethod
    def _volumes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for volume in value:
            here, _, rest = volume.partition(":")
            there, _, mode = rest.partition(":")
            if not (
                PurePosixPath(here).is_absolute() and PurePosixPath(there).is_absolute() and mode in {"", "ro", "rw"}
            ):
                raise ValueError(f"{volume!r} must be /on/the/host:/in/the/container, with :ro or :rw or nothing after")
        return value

    @model_validator(mode="after")
    def _real_sandbox(self) -> Self:
        if not self.privileged_boxes:
            check_privileges("VMPOOL_DOCKER_PRIVILEGED_BOXES", "VMPOOL_DOCKER_ENVIRONMENT", self.environment)
        return self

    def _network_devices(self) -> Sequence[str]:
        # An engine refuses a container with a device that its host does not have, and of other hosts we do not know.
        here = self.host.startswith("unix://") and TUN.exists()
        return [str(TUN)] if here and self.privileged_boxes and str(TUN) not in self.devices else []

    def plan(self, pool_name: str) -> ContainerPlan:
        """The plan for making containers."""
        return record_of(
            ContainerPlan,
            self,
            pool_name=pool_name,
            devices=(*self.devices, *self._network_devices()),
            environment=executor_environment(self.environment),
            privileged_sandboxes=self.privileged_boxes,
        )


def open_docker(context: PoolContext) -> DockerProvider:
    """The provider whose machines are containers of a Docker engine."""
    settings = DockerSettings()
    config = record_of(
        DockerConfig,
        settings,
        context,
        reach_address=settings.reach_address or settings.publish_address,
        gpu_count=context.gpu_counts[0],
        price_micros_per_hour=micros_of(settings.hourly_rate),
    )
    return DockerProvider(config, settings.plan(context.pool_name))
