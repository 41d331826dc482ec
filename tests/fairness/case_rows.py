"""Rows that say what other schedulers do: facts from the test suites of NVIDIA/KAI-Scheduler and kubernetes-sigs/kueue.

NOTICE: both projects are under the Apache License, Version 2.0. Each row names its source. No code was taken.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One row, as its file has it."""

CASES = Path(__file__).with_name("cases")


def rows(name: str) -> list[Row]:
    """The rows of one file."""
    lines = (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]
