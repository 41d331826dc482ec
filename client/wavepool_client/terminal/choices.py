"""Questions on the terminal: numbered choices, and answers that must be one of some or a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import typer

from wavepool_client.terminal.output import say

T = TypeVar("T")


def pick(question: str, choices: Sequence[str], default: int | None = None) -> int:
    """Shows the choices with numbers from 1, and returns the place of the chosen one, from 0; asks until it is one."""
    for number, text in enumerate(choices, 1):
        say(f"{number}  {text}")
    places = {str(number): number - 1 for number in range(1, len(choices) + 1)}
    shown = None if default is None else str(default + 1)
    return ask(question, places.get, f"is not valid; choose 1 to {len(choices)}", shown)


def ask(question: str, parsed: Callable[[str], T | None], rule: str, default: str | None = None) -> T:
    """Asks until `parsed` gives something for the answer; `rule` says what is wrong with another."""
    while True:
        text = str(typer.prompt(question, default=default, err=True)).strip()
        found = parsed(text)
        if found is not None:
            return found
        say(f"{text!r} {rule}")
