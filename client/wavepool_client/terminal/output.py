"""Where the command writes: results on stdout, for pipes; everything said to people on stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

PIPE_WIDTH = 200
"""Columns where nobody looks at a screen: wide enough that tables keep a row on a line."""

results = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)
notes = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Tell a person something, exactly as written."""
    notes.print(text, markup=False)


def print_json(value: Any) -> None:  # noqa: ANN401 - anything that JSON can hold
    """One line of JSON on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.flush()
