from __future__ import annotations

from dataclasses import replace

import pytest

from services.executor.core.model.limits import StageLimits
from services.executor.core.run.context import RunContext
from tests.attacks.conftest import problem_named
from tests.services.executor.core.conftest import (  # noqa: F401 - fixtures, found by their names
    builds,
    builds_folder,
    context,
    cpu_device,
    limits,
)


@pytest.fixture
def fair(context: RunContext) -> RunContext:  # noqa: F811 - the fixture of this name
    """The context with the limits that authors have, not the tight ones of other tests."""
    return replace(context, find_problem=problem_named, limits=StageLimits())
