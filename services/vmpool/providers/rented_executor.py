"""The environment of an executor on a rented machine, or in a container of ours.

Of vmpool's own environment it gets the sandbox settings, unless the provider's setting `environment` has them. If
neither names a sandbox, it must have a real one, because a weaker one holds back less than we promise to those whose
code runs side by side. If a machine cannot make one, its executor refuses to start, and the machine fails for that
reason.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, SecretStr, ValidationError

from servicekit.settings.config import settings_faults
from servicekit.settings.sandbox_settings import SANDBOX_VARIABLES, sandbox_settings_of, variables_of

_REAL = {"EXECUTOR_SANDBOX": "required"}


def _checked(own: dict[str, SecretStr]) -> dict[str, SecretStr]:
    given = {name: value.get_secret_value() for name, value in own.items()}
    try:
        sandbox_settings_of(given)
    except ValidationError as error:
        raise ValueError(settings_faults(error, given)) from None
    return own


ExecutorEnvironment = Annotated[dict[str, SecretStr], AfterValidator(_checked)]
"""A provider's setting of an executor's variables, by name."""


def executor_environment(own: Mapping[str, SecretStr], ambient: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables: `own`, and the sandbox settings of `ambient` that `own` has under none of their names."""
    given = {name: value.get_secret_value() for name, value in own.items()}
    for names in SANDBOX_VARIABLES:
        if given.keys().isdisjoint(names):
            given |= {name: ambient[name] for name in [name for name in names if ambient.get(name)][:1]}
    return _REAL | given if given.keys().isdisjoint(variables_of("sandbox")) else given


def check_privileges(setting: str, environment_setting: str, own: Mapping[str, SecretStr]) -> None:
    """Raises ValueError if a container without privileges is to make a real sandbox, which it cannot."""
    if sandbox_settings_of(executor_environment(own)).sandbox == "required":
        raise ValueError(
            f"{setting} is false, and a container without privileges makes no real sandbox: leave it true, or accept a "
            f'weaker one by {environment_setting}={{"EXECUTOR_SANDBOX": "process"}}, with what that does not hold back'
        )
