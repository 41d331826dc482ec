"""Which box an executor in a container of ours must have: a real one, unless the operator chose another explicitly.

A weaker box holds back less than we promise to those whose code runs side by side. So a machine that cannot make a real
one is refused when its executor starts, and ends as a failed machine with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_CHOICES = ("EXECUTOR_SANDBOX", "AMD_CONTAINER_ISOLATION")
_REAL = {"EXECUTOR_SANDBOX": "required"}


def with_sandbox(environment: Mapping[str, str]) -> dict[str, str]:
    """The executor's environment, with a real box demanded where it does not say which."""
    return {**environment} if _chosen(environment) else {**_REAL, **environment}


def check_privileges(setting: str, environment_setting: str, environment: Collection[str]) -> None:
    """Raises ValueError where a container without privileges is to make a real box, which it cannot."""
    if not _chosen(environment):
        raise ValueError(
            f"{setting} is false, and a container without privileges makes no real sandbox: leave it true, or accept a "
            f'weaker one by {environment_setting}={{"EXECUTOR_SANDBOX": "process"}}, with what that does not hold back'
        )


def _chosen(environment: Collection[str]) -> bool:
    return any(name in environment for name in _CHOICES)
