"""Long parameter lists: `make test` takes a sample, `make soak` takes them whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from _pytest.mark.structures import ParameterSet

Value = TypeVar("Value")


def sampled(values: Iterable[Value], sample: Collection[Value]) -> list[Value | ParameterSet]:
    """Parameters for `parametrize`: those outside the sample run only with SOAK=1."""
    return [value if value in sample else pytest.param(value, marks=pytest.mark.soak) for value in values]


def leave_out_what_soaks(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests marked `soak`, unless SOAK=1 or a test is named on the command line."""
    if os.environ.get("SOAK") == "1" or any("::" in argument for argument in config.args):
        return
    left_out = [item for item in items if item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not item.get_closest_marker("soak")]
