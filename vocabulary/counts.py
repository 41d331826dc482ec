"""Numbers of things, in words that people read."""

from __future__ import annotations


def counted(number: float, noun: str) -> str:
    """A number with its noun: `1 sample`, `20 samples`, `1.5 minutes`."""
    text = f"{number:g}" if isinstance(number, float) else str(number)
    return f"{text} {noun}{'' if number == 1 else 's'}"
