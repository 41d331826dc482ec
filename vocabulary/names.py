"""Names that people type: matched in any case; a refusal lists the legal names and the nearest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

JOB_ID = re.compile(r"(?:job|res)_[0-9A-Z]+")
"""Ids of submissions and reservations within a text."""
LONGEST_QUOTE = 40
"""Longest part of the typed text that a refusal repeats, in characters."""


def known_name(name: str, names: Iterable[str]) -> str:
    """The name in its one spelling, whatever its case and surrounding blanks; empty if it is not one of `names`."""
    key = name.strip().casefold()
    return next((known for known in names if known.casefold() == key), "")


def nearest_name(name: str, names: Sequence[str], likeness: float = 0.0) -> str:
    """The name most similar to `name`, by difflib from 0 (any) to 1 (equal); empty if none is similar enough."""
    by_key = {known.casefold(): known for known in reversed(names)}
    found = get_close_matches(name.strip().casefold()[:LONGEST_QUOTE], by_key, n=1, cutoff=likeness)
    return by_key[found[0]] if found else ""


def none_of(name: str, names: Sequence[str], likeness: float = 0.0) -> str:
    """Refusal of a name that is not one of `names`; if none is as similar as `likeness`, the first is the nearest."""
    legal, nearest = ", ".join(names), nearest_name(name, names, likeness) or names[0]
    return f"must be one of {legal}; it is {name[:LONGEST_QUOTE]!r}, and the nearest is {nearest}"
