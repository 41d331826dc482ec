"""The hosts provider's settings, and the file that lists the hosts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_settings import SettingsConfigDict

from servicekit.service_token import ServiceToken
from servicekit.settings.config import Settings, WrongSettingsError
from services.vmpool.providers.hosts.provider import Host, HostsProvider
from services.vmpool.providers.plugins import PoolContext
from vocabulary.money import micros_of
from vocabulary.ports import MACHINE_HOST_PORT

_NAME = r"[a-z0-9][a-z0-9-]{0,39}"
_ADDRESS = r"^([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::([0-9]{1,5}))?$"
_SETTING = "VMPOOL_HOSTS_FILE"


class HostsSettings(Settings):
    """Settings, read from `VMPOOL_HOSTS_*`. Durations are in seconds."""

    model_config = SettingsConfigDict(env_prefix="VMPOOL_HOSTS_")

    file: Path
    """TOML file with a table for each host, by its name: `[lab-1]`."""
    start_timeout: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=180)
    request_timeout: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(seconds=5)
    """Time limit of a question to a host. Starting and ending a machine may take longer."""


class HostEntry(BaseModel):
    """A host as the file lists it."""

    model_config = ConfigDict(extra="forbid")

    address: Annotated[str, Field(pattern=_ADDRESS)]
    """`name` or `name:port` of `python -m services.vmpool.providers.hosts`; the executor has the same name."""
    token_file: Path
    """The host's token: the first line of the file."""
    gpu_type: str
    gpu_count: Annotated[int, Field(ge=1, le=64)]
    hourly_rate: Annotated[Decimal, Field(ge=0)] = Decimal(0)
    """Dollars that an hour of the host costs its operator."""

    def host(self) -> Host:
        """The host; raises NoServiceTokenError."""
        address, port = re.findall(_ADDRESS, self.address)[0]
        return Host(
            address=address,
            port=int(port or MACHINE_HOST_PORT),
            token=ServiceToken(self.token_file, f"{_SETTING}, token_file", "a host's token"),
            gpu_type=self.gpu_type,
            gpu_count=self.gpu_count,
            price_micros_per_hour=micros_of(self.hourly_rate),
        )


_ENTRIES = TypeAdapter(dict[Annotated[str, Field(pattern=f"^{_NAME}$")], HostEntry])


def hosts_in(file: Path, gpu_types: tuple[str, ...]) -> Mapping[str, Host]:
    """The hosts that the file lists, by name; raises WrongSettingsError, NoServiceTokenError."""
    where = f"{_SETTING}: {file}"
    try:
        entries = _ENTRIES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettingsError(f"{where} cannot be read ({error}); docs/pool/providers.md shows one") from error
    except tomllib.TOMLDecodeError as error:
        raise WrongSettingsError(f"{where} is not TOML: {error}") from error
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise WrongSettingsError(f"{where}: {'; '.join(faults)}") from error
    if not entries:
        raise WrongSettingsError(f"{where} lists no host; add one, or take `hosts` out of VMPOOL_PROVIDERS")
    for name, entry in entries.items():
        if entry.gpu_type not in gpu_types:
            known = ", ".join(gpu_types)
            raise WrongSettingsError(
                f"{where}: {name}.gpu_type: {entry.gpu_type!r} is not in VMPOOL_GPU_TYPES ({known})"
            )
    return {name: entry.host() for name, entry in entries.items()}


def open_hosts(context: PoolContext) -> HostsProvider:
    """The provider whose machines are the hosts of a file."""
    settings = HostsSettings()  # pyright: ignore[reportCallIssue] - from the environment
    hosts = hosts_in(settings.file, context.gpu_types)
    return HostsProvider(hosts, start_timeout=settings.start_timeout, request_timeout=settings.request_timeout)
