"""Numbers of things, in good English."""

from __future__ import annotations


def counted(number: object, one: str, several: str = "") -> str:
    """A number of things, such as `1 file` or `2 files`; `several` is for words that do not end in `s` then."""
    text = f"{number:g}" if isinstance(number, float) else str(number)
    return f"{text} {one if number == 1 else several or f'{one}s'}"
