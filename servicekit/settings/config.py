"""Settings that all services share; each service adds its own in a subclass with its prefix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AliasChoices, BeforeValidator, Field, FilePath, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from servicekit.callers_file import FILE_NAME as CALLERS_FILE
from servicekit.callers_file import CallersFile, CallersFileError
from servicekit.service_token import ServiceToken, service_token_of
from vocabulary.ports import METRICS_PORT_OFFSET

T = TypeVar("T")

_OWNER_ONLY = 0o600


def split_at_commas(value: object) -> object:
    """Splits a text at its commas; any other value stays as it is."""
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


CommaSeparated = Annotated[tuple[T, ...], NoDecode, BeforeValidator(split_at_commas)]
"""A list that the environment holds as `one,two` instead of JSON."""


class WrongSettingsError(Exception):
    """The settings contradict each other, or name something that cannot be used; the message names it."""


LEADER_TERM = timedelta(seconds=3)
"""With the time in which another process notices and takes over, under 5 s."""
LeaderTerm = Annotated[timedelta, Field(ge=timedelta(milliseconds=300))]
"""The term of a leader lease. It is renewed after each third, for which a shorter one would leave no time."""


SECRETS = frozenset({"admin_token", "database_url", "token"})
"""Fields that are secrets, besides those of the type SecretStr."""


class _SecretFiles(EnvSettingsSource):
    """The secrets that stand in files: `X_FILE` names the file of the setting `X`, without its last line's end."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        found: dict[str, str | None] = {}
        for variable in secret_names(self.settings_cls):
            file = os.environ.get(f"{variable}_FILE")
            if not file:
                continue
            if os.environ.get(variable):
                raise WrongSettingsError(f"{variable} and {variable}_FILE are set: take one of them away")
            try:
                text = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                raise WrongSettingsError(f"{variable}_FILE: {file} cannot be read ({error})") from error
            if not text:
                raise WrongSettingsError(f"{variable}_FILE: {file} is empty")
            found[variable.lower()] = text
        return found


class Settings(BaseSettings):
    """Settings whose durations may be given in seconds. An empty variable counts as not set."""

    model_config = SettingsConfigDict(env_ignore_empty=True, populate_by_name=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Called by the library: a secret may stand in a file instead of the environment."""
        return init_settings, env_settings, _SecretFiles(settings_cls)

    @field_validator("*", mode="before")
    @classmethod
    def _seconds(cls, value: object, info: ValidationInfo) -> object:
        """Reads `600` as seconds if a duration is expected: pydantic takes only ISO 8601 from the environment."""
        is_duration = cls.model_fields[str(info.field_name)].annotation is timedelta
        if is_duration and isinstance(value, str):
            try:
                return float(value)
            except ValueError:
                return value
        return value


def settings_faults(error: Exception, environment: Mapping[str, str] = os.environ) -> str:
    """Faults of the settings in one line, without their values; empty if the error is not about settings.

    A setting with several names is reported under the one that `environment` has.
    """
    if isinstance(error, SettingsError):
        return _no_json(error, environment)
    if not isinstance(error, ValidationError):
        return ""
    known = {kind.__name__: kind for kind in _kinds_below(Settings)}
    if error.title not in known:
        return ""
    kind = known[error.title]
    said: list[str] = []
    for fault in error.errors(include_url=False, include_input=False):
        message = fault["msg"].removeprefix("Value error, ")
        field, *within = map(str, fault["loc"] or [""])
        if not field and message.partition(": ")[0] in names_of_fields(kind):
            # A check of several settings names the wrong one itself.
            field, _, message = message.partition(": ")
        names = names_of_fields(kind).get(field, ())
        variable = next((name for name in names if environment.get(name)), names[0] if names else field)
        said.append(f"{'.'.join([variable, *within]).upper()}: {message}".removeprefix(": "))
    return "; ".join(said)


def _no_json(error: SettingsError, environment: Mapping[str, str]) -> str:
    """The library names only the field, so this reports the variables for that field that are set."""
    field = re.search(r'field "(\w+)"', str(error))
    names = (names_of_fields(kind).get(field[1], ()) for kind in _kinds_below(Settings)) if field else ()
    found = sorted({name for choices in names for name in choices if environment.get(name)})
    return f"{' or '.join(found)}: must be JSON" if found else str(error)


def names_of_fields(kind: type[BaseSettings]) -> dict[str, tuple[str, ...]]:
    """The variables that a field is read from, by each name that pydantic may use for the field."""
    found: dict[str, tuple[str, ...]] = {}
    for name, field in kind.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else ()
        variables = tuple(map(str, choices)) or (f"{kind.model_config.get('env_prefix', '')}{name}".upper(),)
        found |= dict.fromkeys((name, *variables), variables)
    return found


def secret_names(kind: type[BaseSettings]) -> Sequence[str]:
    """The variables of the settings that are secrets, each of which may have `_FILE` behind its name."""
    secret = [name for name, field in kind.model_fields.items() if name in SECRETS or "SecretStr" in repr(field)]
    return [variable for name in secret for variable in names_of_fields(kind)[name]]


def _kinds_below(kind: type[Settings]) -> Iterator[type[Settings]]:
    for below in kind.__subclasses__():
        yield below
        yield from _kinds_below(below)


class ServiceSettings(Settings):
    """Settings from the environment: `SCHEDULER_PORT` is `port` of the subclass with `env_prefix` `SCHEDULER_`."""

    host: str = "127.0.0.1"
    port: int
    """Port of the service; 0 takes a free port."""
    metrics_port: int | None = None
    """Port for Prometheus. Unset: `port` + 1000. 0 takes a free port."""
    data_dir: Path = Path(".wavepool")
    database_url: str | None = None
    """SQLAlchemy URL of an async driver. Unset: an SQLite file in `data_dir`."""
    database_password_file: FilePath | None = None
    """The database's password, read at each new connection; unset: the URL's."""
    database_connections: Annotated[int, Field(ge=3)] = 12
    """Most connections to PostgreSQL at a time, besides one or two that are kept for health and the leader lease."""
    database_statement_timeout: timedelta = timedelta(seconds=30)
    database_lock_timeout: timedelta = timedelta(seconds=10)
    service_token_file: Path | None = Field(default=None, validation_alias=AliasChoices("WAVEPOOL_SERVICE_TOKEN_FILE"))
    """The secret by which services know each other, the same for all; unset: `service-token` in `data_dir`."""
    callers_file: Path | None = Field(default=None, validation_alias=AliasChoices("WAVEPOOL_CALLERS_FILE"))
    """Other services that may call vmpool and charge accounts (servicekit/callers_file.py); unset: `callers.toml` in
    `data_dir`, if there is one."""
    tls_dir: Path | None = Field(default=None, validation_alias=AliasChoices("WAVEPOOL_TLS_DIR"))
    """Folder of certificates (`make certs`); set, the gateway, scheduler, vmpool and billing talk in TLS alone."""
    log_level: str = "INFO"
    drain: timedelta = timedelta(seconds=10)
    """Longest time that calls in flight may go on after SIGTERM."""

    def resolved_metrics_port(self) -> int:
        """Port for metrics; 0 (a free port) if the service's own port is 0."""
        if self.metrics_port is not None:
            return self.metrics_port
        return self.port + METRICS_PORT_OFFSET if self.port else 0

    def service_token(self) -> ServiceToken:
        """The token of the services of this installation; raises NoServiceTokenError."""
        return ServiceToken(self.service_token_file) if self.service_token_file else service_token_of(self.data_dir)

    def other_services(self) -> CallersFile:
        """The other services that may call; raises CallersFileError."""
        if self.callers_file and not self.callers_file.exists():
            raise CallersFileError(f"WAVEPOOL_CALLERS_FILE: there is no {self.callers_file}; make it, or unset it")
        return CallersFile(self.callers_file or self.data_dir / CALLERS_FILE)

    def state_folder(self) -> Path:
        """The folder of stored files: the data folder, or the folder of an SQLite file elsewhere."""
        if self.database_url and self.database_url.startswith("sqlite"):
            return Path(self.database_url.partition(":///")[2]).parent
        return self.data_dir

    def resolved_database_url(self, service: str) -> str:
        """The database's URL; creates the data folder and a file that no other user reads, if the default is used."""
        if self.database_url:
            return self.database_url
        self.data_dir.mkdir(parents=True, exist_ok=True)
        file = self.data_dir.resolve() / f"{service}.db"
        _keep_private(file)
        return f"sqlite+aiosqlite:///{file}"


def _keep_private(file: Path) -> None:
    """Takes an SQLite file from other users, or makes an empty one; SQLite gives its log the same mode."""
    file.touch(mode=_OWNER_ONLY)
    for part in (file, *(file.with_name(f"{file.name}{suffix}") for suffix in ("-wal", "-shm"))):
        # Another user's file is that user's to protect.
        with suppress(FileNotFoundError, PermissionError):
            part.chmod(_OWNER_ONLY)
