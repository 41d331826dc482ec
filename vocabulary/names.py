"""Names that people type: found in any case, and refused with the legal ones and the nearest."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST_QUOTE = 40
"""Characters of what was typed that a refusal repeats."""


def known_name(name: str, names: Iterable[str]) -> str:
    """The name in its one spelling, whatever the case and the blanks around it; empty if it is none of them."""
    key = name.strip().casefold()
    return next((known for known in names if known.casefold() == key), "")


def nearest_name(name: str, names: Sequence[str], likeness: float = 0.0) -> str:
    """The name that is most like `name`; empty if none is, by difflib's measure from 0 (any) to 1 (the same)."""
    by_key = {known.casefold(): known for known in reversed(names)}
    found = get_close_matches(name.strip().casefold()[:LONGEST_QUOTE], by_key, n=1, cutoff=likeness)
    return by_key[found[0]] if found else ""


def none_of(name: str, names: Sequence[str], likeness: float = 0.0) -> str:
    """What to say of a name that is none of `names`; if none is as like as `likeness`, the first counts as nearest."""
    legal, nearest = ", ".join(names), nearest_name(name, names, likeness) or names[0]
    return f"must be one of {legal}; it is {name[:LONGEST_QUOTE]!r}, and the nearest is {nearest}"
