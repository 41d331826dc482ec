"""The dstack provider's settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Annotated, Any, Self

from dstack._internal.core.models.backends.base import BackendType
from dstack._internal.core.models.resources import CPUSpec, Memory, Range
from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import NoDecode, SettingsConfigDict

from servicekit.records import record_of
from servicekit.settings.config import CommaSeparated, Settings
from services.vmpool.providers.dstack import config
from services.vmpool.providers.dstack.provider import DstackProvider
from services.vmpool.providers.plugins import PoolContext
from services.vmpool.providers.rented_executor import ExecutorEnvironment, check_privileges, executor_environment
from vocabulary.names import none_of

BACKENDS = tuple(sorted(backend.value for backend in BackendType))
"""Backends that the installed dstack client knows; `remote` means SSH fleets."""

USUAL_BACKENDS = ("amddevcloud", "hotaisle")
"""Backends to rent from if no setting names one."""

LIMITS_OF_THE_POOL = {
    "VMPOOL_DSTACK_BACKENDS": "VMPOOL_BACKENDS",
    "VMPOOL_DSTACK_GPU_COUNTS": "VMPOOL_GPUS_PER_MACHINE",
    "VMPOOL_DSTACK_MAX_HOURLY_PRICE": "VMPOOL_MAX_PRICE (dollars of one GPU)",
    "VMPOOL_DSTACK_SPOT_POLICY": "VMPOOL_SPOT_POLICY",
}
"""Settings of earlier versions that limited renting, with those that replace them."""

RENTED_GPU = {"EXECUTOR_DEVICE": "rocm"}
"""Executor settings for rented GPUs. Without a setting the executor uses the processor, which nobody would rent a GPU
for."""

_SIZES = TypeAdapter(Range[Memory])
_CPUS = TypeAdapter(CPUSpec)
_LARGEST_GB = 100_000
_MOST_CPUS = 1024
"""Limits on a machine's size. More is surely a typing error, and no cloud would ever have it."""

Positive = Annotated[timedelta, Field(gt=timedelta(0))]
NotNegative = Annotated[timedelta, Field(ge=timedelta(0))]
DurationByBackend = Annotated[dict[str, timedelta], NoDecode]


class DstackSettings(Settings):
    """Settings, read from `VMPOOL_DSTACK_*`. Durations are in seconds; lists are separated by commas."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_DSTACK_", hide_input_in_errors=True, populate_by_name=True)

    server_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] = "http://127.0.0.1:3000"
    project: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]*$")] = "main"
    token: Annotated[SecretStr, Field(validate_default=True)] = SecretStr("")
    """A user's token; `dstack server` prints the admin's when it starts."""
    older_backends: CommaSeparated[str] = Field(default=(), validation_alias=AliasChoices("DSTACK_BACKEND"))
    """Backends to rent from, if VMPOOL_BACKENDS names no backend of dstack's."""
    amddevcloud_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("VMPOOL_DSTACK_AMDDEVCLOUD_API_KEY", "DSTACK_AMDDEVCLOUD_API_KEY"),
    )
    """Key of AMD Developer Cloud. It goes to the dstack server if its project lacks that backend, and is kept nowhere
    else."""
    regions: CommaSeparated[str] = ()
    """Regions to rent in; empty: all regions of the backends."""
    fleet_name: Annotated[str, Field(pattern=r"^([a-z][a-z0-9-]{1,40})?$")] = ""
    """The fleet that holds the machines; empty: the pool's name. An SSH fleet's hosts are used but never deleted."""
    fleet_size: Annotated[int, Field(ge=1)] = 8
    """Most machines that a fleet of our making may hold, whatever the pool's own limit is."""
    create_fleet: bool = True
    """Makes the fleet if it is missing."""
    cpu: str = config.CPU
    """CPUs of a machine, in dstack's form of ranges: `8..`, `x86:8..64`; `x86` unless an architecture is given."""
    memory: str = config.MEMORY
    """Memory of a machine: `64GB..`, `64GB..512GB`."""
    disk: str = config.DISK
    """Disk of a machine, which holds the image: `200GB..`."""
    max_duration: Positive = timedelta(hours=12)
    """Longest life of a machine. dstack ends it by itself, even without vmpool."""
    idle_duration: NotNegative = timedelta(seconds=300)
    """Time for which dstack keeps a machine whose executor has ended, if we do not release it."""
    image: Annotated[str, Field(min_length=1)] = "wavepool"
    """Image that the machine pulls: an image of `deploy/Dockerfile` in a registry that the cloud reaches."""
    commands: tuple[str, ...] = ("exec python -m services.executor",)
    """Shell commands, as JSON; the last one runs the executor."""
    user: Annotated[str, Field(min_length=1)] = "root"
    """User in the container. Without it, dstack asks the registry for the image's own user on every plan."""
    environment: ExecutorEnvironment = Field(default_factory=dict[str, SecretStr])
    """Settings for the executor, as JSON. `EXECUTOR_DEVICE` is `rocm` by default. Sandbox settings that are missing
    come from our own environment; if both name no sandbox, `EXECUTOR_SANDBOX` is `required`."""
    privileged: bool = True
    """Gives the container the privileges that an executor needs to make real sandboxes (bubblewrap)."""
    executor_port: Annotated[int, Field(gt=0, le=65535)] = 50051
    """Port on the machine's loopback. It is not the usual port, because the container has its host's network, and a
    Wavepool of the host's own may use that port."""
    orphan_timeout: NotNegative = timedelta(minutes=15)
    """An executor that no pool has asked for this long ends by itself, and its machine after `idle_duration`; 0:
    never."""
    minimum_billed: DurationByBackend = Field(default_factory=dict[str, timedelta])
    """Least time that a backend bills for a machine, in seconds: `hotaisle=7200`."""
    billing_increment: DurationByBackend = Field(default_factory=dict[str, timedelta])
    """Step in which a backend bills, in seconds: `hotaisle=60`."""
    request_timeout: Positive = timedelta(seconds=15)
    """Time limit of one request to dstack's server."""
    poll_interval: Positive = timedelta(seconds=2)
    """Time between two polls of one machine."""
    start_timeout: Positive = timedelta(minutes=20)
    """Time from asking for a machine to a ready executor; a new machine boots and pulls the image."""
    stop_grace: Positive = timedelta(seconds=15)
    """Time between asking the executor to end and killing it."""
    release_timeout: Positive = timedelta(minutes=3)
    """Time limit for one try to release a machine."""
    ends_with_pool: bool = True
    """If true, machines are released when vmpool stops; if false, the next vmpool takes them over."""

    @field_validator("minimum_billed", "billing_increment", mode="before")
    @classmethod
    def _durations(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return dict(_backend_and_seconds(item) for item in value.split(",") if item.strip())

    @field_validator("older_backends")
    @classmethod
    def _known_backends(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_known_backend(backend) for backend in value))

    @field_validator("minimum_billed", "billing_increment")
    @classmethod
    def _known_billing(cls, value: dict[str, timedelta]) -> dict[str, timedelta]:
        for backend, duration in value.items():
            _known_backend(backend)
            if duration <= timedelta(0):
                raise ValueError(f"{backend} must be more than 0 s; leave it out where it bills every second")
        return value

    @field_validator("memory", "disk")
    @classmethod
    def _size_range(cls, value: str) -> str:
        example = f"a size or a range of sizes up to {_LARGEST_GB}GB, such as 200GB.. or 100GB..1TB"
        return _range(value, _SIZES.validate_python, _LARGEST_GB, example)

    @field_validator("cpu")
    @classmethod
    def _cpu_range(cls, value: str) -> str:
        example = f"a count or a range of CPUs up to {_MOST_CPUS}, such as 8.. or x86:8..64"
        known = _range(value, lambda text: _CPUS.validate_python(text).count, _MOST_CPUS, example)
        # Without an architecture dstack asks the image's registry for it on every plan.
        return known if ":" in known else f"x86:{known}"

    @field_validator("token")
    @classmethod
    def _has_token(cls, value: SecretStr) -> SecretStr:
        if not value.get_secret_value():
            raise ValueError("is empty: set it to a user's token of the dstack server")
        return value

    @model_validator(mode="after")
    def _no_limit_is_lost(self) -> Self:
        """Refuse to rent if a limit is set by the name of an earlier version, because it would be ignored."""
        for old, new in LIMITS_OF_THE_POOL.items():
            if old in os.environ:
                raise ValueError(f"{old} is read no more: set {new} instead, which limits what every provider rents")
        return self

    @model_validator(mode="after")
    def _real_sandbox(self) -> Self:
        if not self.privileged:
            check_privileges("VMPOOL_DSTACK_PRIVILEGED", "VMPOOL_DSTACK_ENVIRONMENT", self.environment)
        return self

    def agent(self) -> config.Agent:
        """The executor that runs on the machines, and its settings."""
        return record_of(config.Agent, self, environment=RENTED_GPU | executor_environment(self.environment))

    def market(self, context: PoolContext) -> config.Market:
        """Limits on the machines to rent, from the pool's settings."""
        backends = _rented_backends(context.offers.backends) or self.older_backends or USUAL_BACKENDS
        return record_of(
            config.Market, self, context, context.offers, backends=backends, spot_policy=context.offers.spot
        )

    def server(self) -> config.Server:
        """The server, and our token there."""
        token, key = self.token.get_secret_value(), self.amddevcloud_api_key.get_secret_value()
        return config.Server(self.server_url, self.project, token, self.request_timeout, key)

    def config(self, context: PoolContext) -> config.DstackConfig:
        """The whole configuration for that pool."""
        name = self.fleet_name or context.pool_name
        return record_of(
            config.DstackConfig,
            self,
            context,
            server=self.server(),
            agent=self.agent(),
            market=self.market(context),
            fleet=config.Fleet(name, self.fleet_size, self.create_fleet, self.idle_duration),
            timeouts=record_of(config.Timeouts, self),
        )


def _rented_backends(preferred: Sequence[str]) -> tuple[str, ...]:
    """The backends of dstack that VMPOOL_BACKENDS names, as `NAME` or as `dstack/NAME`."""
    named = [name.removeprefix(f"{DstackProvider.name}/") for name in preferred]
    return tuple(dict.fromkeys(name for name in named if name in BACKENDS))


def open_dstack(context: PoolContext) -> DstackProvider:
    """The provider whose machines dstack rents."""
    return DstackProvider(DstackSettings().config(context))


def _range(value: str, read: Callable[[str], Range[Any]], most: float, expected: str) -> str:
    """The value without blanks; raises ValueError unless dstack reads a range of more than 0 and at most `most`."""
    try:
        found = read(value)
        legal = all(0 < end <= most for end in (found.min, found.max) if end is not None)
    except (ValidationError, ValueError, OverflowError):
        legal = False
    if not legal:
        raise ValueError(f"must be {expected}; it is {value!r}")
    return value.replace(" ", "")


def _known_backend(backend: str) -> str:
    return _known(backend, BACKENDS)


def _known(word: str, legal: tuple[str, ...]) -> str:
    if word not in legal:
        raise ValueError(none_of(word, legal))
    return word


def _backend_and_seconds(item: str) -> tuple[str, float]:
    backend, separator, seconds = item.partition("=")
    try:
        return backend.strip(), float(seconds)
    except ValueError:
        expected = "a backend, `=` and seconds, such as hotaisle=7200"
        raise ValueError(f"must be {expected}; it is {item!r}" if separator else f"{item!r} lacks {expected}") from None
