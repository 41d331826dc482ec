"""Settings of the sandboxes of submissions: executors read them, and vmpool passes them to rented machines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from pydantic import AliasChoices, Field, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from servicekit.settings.amounts import cores_of, mib_of
from servicekit.settings.config import Settings

_OLDER_WORDS = {"true": "required", "1": "required", "false": "auto", "0": "auto"}
_SANDBOX = re.compile(r"auto|required|bubblewrap|docker(:.+)?|process")


class SandboxSettings(Settings):
    """Settings from `EXECUTOR_*` variables or their older names."""

    model_config = SettingsConfigDict(env_prefix="EXECUTOR_", populate_by_name=True)

    sandbox: str = Field(default="auto", validation_alias=AliasChoices("EXECUTOR_SANDBOX", "AMD_CONTAINER_ISOLATION"))
    """Kind of sandbox: `auto`, `required`, `bubblewrap`, `docker`, `docker:RUNTIME` or `process`.

    The older variable's `true` means `required`, and its `false` means `auto`.
    """
    box_memory: int | None = Field(
        default=None, validation_alias=AliasChoices("EXECUTOR_BOX_MEMORY", "AMD_CONTAINER_MEMORY_LIMIT")
    )
    """MiB that a submission's sandbox may use, given with a unit as for Docker: `16g`, `512m`.

    The default is 16 GiB; on `cpu` and `sim`, at most three quarters of the machine's memory.
    """
    box_cores: float | None = Field(
        default=None, validation_alias=AliasChoices("EXECUTOR_BOX_CORES", "AMD_CONTAINER_CPU_LIMIT")
    )
    """Processors that a submission's sandbox may use, such as `4` or `2.5`; by default 4, on `cpu` and `sim` all."""

    @field_validator("sandbox", mode="before")
    @classmethod
    def _known_sandbox(cls, value: Any) -> str:  # noqa: ANN401  whatever the environment holds
        word = _OLDER_WORDS.get(str(value).lower(), str(value))
        if not _SANDBOX.fullmatch(word):
            known = "auto, required, bubblewrap, docker, docker:RUNTIME, process"
            raise ValueError(f"must be one of {known}, or true (required) or false (auto); it is {value!r}")
        return word

    @field_validator("box_memory", mode="before")
    @classmethod
    def _memory(cls, value: Any) -> int | None:  # noqa: ANN401  as above
        return None if value is None else mib_of(str(value))

    @field_validator("box_cores", mode="before")
    @classmethod
    def _cores(cls, value: Any) -> float | None:  # noqa: ANN401  as above
        return None if value is None else cores_of(str(value))


class GivenSandboxSettings(SandboxSettings):
    """Sandbox settings that are read only from the variables passed in, not from our environment."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - the signature is the library's
        init_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Uses only the values that the object is made with."""
        return (init_settings,)


def variables_of(field: str) -> list[str]:
    """The variables that a sandbox setting is read from; the first one that is set wins."""
    return [str(name) for name in cast("AliasChoices", SandboxSettings.model_fields[field].validation_alias).choices]


SANDBOX_VARIABLES = [variables_of(field) for field in SandboxSettings.model_fields]


def sandbox_settings_of(values: Mapping[str, str]) -> SandboxSettings:
    """The settings in these variables, whatever our environment has; raises pydantic's ValidationError."""
    return GivenSandboxSettings.model_validate(
        {name: values[name] for names in SANDBOX_VARIABLES for name in names if name in values}
    )
