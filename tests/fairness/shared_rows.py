"""Rows that say what other schedulers do: facts from the test suites of NVIDIA/KAI-Scheduler and kubernetes-sigs/kueue.

NOTICE: both projects are under the Apache License, Version 2.0. Each row names its source. No code was taken.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One row, as its file has it."""

FOLDER = next(
    (folder for above in Path(__file__).parents if (folder := above / "shared" / "fairshare").is_dir()),
    None,
)
"""The folder of rows, beside this repository or above it; None if there is none."""
NO_ROWS = "there is no folder shared/fairshare beside this repository"


def rows(name: str) -> list[Row]:
    """The rows of one file, or none if it is not there."""
    path = FOLDER / f"{name}.jsonl" if FOLDER else None
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
