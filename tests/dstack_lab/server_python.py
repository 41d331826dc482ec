"""The Python that has the dstack server: an environment of its own, because its dependencies conflict with ours."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def server_python() -> Path | None:
    """The Python with dstack's server that .ci/run installs, or that DSTACK_PYTHON names."""
    named = Path(os.environ.get("DSTACK_PYTHON") or REPOSITORY / ".cache" / "dstack" / "bin" / "python")
    return named if named.is_file() else None
