"""A hint: one piece of advice to an author."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_MOST_PER_KERNEL = 12


@dataclass(frozen=True)
class Hint:
    """One piece of advice; `line` is the submission's, 0 if the hint is about the whole kernel; texts are sentences."""

    subject: str
    """Keyword for programs: `spills`, `occupancy`, `uncoalesced`, ..."""
    line: int
    what: str
    why: str
    advice: str


def chosen(hints: Iterable[Hint]) -> list[Hint]:
    """Return the first hint of each subject and line, up to a number that people will read."""
    found: dict[tuple[str, int], Hint] = {}
    for hint in hints:
        found.setdefault((hint.subject, hint.line), hint)
    return list(found.values())[:_MOST_PER_KERNEL]


def line_list(lines: Iterable[int]) -> str:
    """Return `line 4` or `lines 4, 7 and 9`, limited to a few; empty if no line is known."""
    known = sorted({line for line in lines if line})
    if not known:
        return ""
    shown = [str(line) for line in known[:6]]
    if len(known) == 1:
        return f"line {shown[0]}"
    more = f" and {len(known) - 6} more" if len(known) > 6 else ""  # noqa: PLR2004  as many as are shown
    return f"lines {', '.join(shown)}{more}"
