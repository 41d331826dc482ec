"""The command's output: results on stdout, for pipes; messages for people on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console

PIPE_WIDTH = 200
"""Columns if stdout is not a terminal: wide enough for each row of a table to stay on one line."""

# Without emoji, `root:x:0` stays as it is.
results = Console(emoji=False, highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PIPE_WIDTH)
notes = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)


def is_on_terminal() -> bool:
    """True if there is a person to ask."""
    return notes.is_terminal and sys.stdin.isatty()


def say(text: str) -> None:
    """Prints a message for people, exactly as written."""
    notes.print(text, markup=False)


def print_json(value: Any) -> None:  # noqa: ANN401 - anything that JSON can hold
    """Prints one line of JSON on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def repeat(show: Callable[[], None], seconds: float) -> None:
    """Shows once; if there are `seconds`, again and again after so many, until Ctrl-C."""
    try:
        while True:
            show()
            if not seconds:
                return
            time.sleep(seconds)
            if results.is_terminal:
                results.clear()
    except KeyboardInterrupt:
        return
