"""Sources as people paste them: lines that belong to the place that they were copied from are taken away.

Each such line becomes an empty one, so that the compiler's lines stay the author's.
"""

from __future__ import annotations

import re

from services.executor.core.compile.python_source import is_python

_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+.#-]*")
_CONTEST = re.compile(r"#!\S*")
"""In C++ no line begins so; `#!POPCORN leaderboard NAME` is KernelBot's."""


def unpasted(source: str) -> tuple[str, tuple[str, ...]]:
    """The source without Markdown's fences around it and without `#!` lines, and a note about each kind that it had."""
    if is_python(source):
        return source, ()
    lines = source.lstrip("\ufeff").split("\n")
    notes = (_without_fences(lines), _without_contest_lines(lines))
    return ("\n".join(lines), found) if (found := tuple(filter(None, notes))) else (source, ())


def _without_fences(lines: list[str]) -> str:
    """Empties the lines of fences if they are the first and the last line with text."""
    written = [at for at, line in enumerate(lines) if line.strip()]
    if not written or not _FENCE.fullmatch(lines[written[0]].strip()):
        return ""
    marks = [at for at in (written[0], written[-1]) if _FENCE.fullmatch(lines[at].strip())]
    for at in marks:
        lines[at] = ""
    return "The lines of Markdown around the source (```) are left out."


def _without_contest_lines(lines: list[str]) -> str:
    found = [at for at, line in enumerate(lines) if _CONTEST.match(line)]
    for at in found:
        lines[at] = ""
    return "Lines that begin with `#!` are for KernelBot, and are left out." if found else ""


def paste_hint(source: str, text: str) -> str:
    """Says what to do about a compiler's error that comes from how the source was pasted; empty if it does not."""
    if any(_FENCE.fullmatch(line.strip()) for line in source.splitlines()):
        return "The source has Markdown in it: send only what is between the lines of ```."
    if (found := _MISSING_HEADER.search(text)) and re.search(_OWN_HEADER.format(re.escape(found[1])), source):
        return (
            f"A submission is one file: put the content of `{found[1]}` in the place of the line that includes it, "
            "and leave out what it does not need."
        )
    return ""


_MISSING_HEADER = re.compile(r"fatal error: '?\"?([^'\"\s:]+)'?\"?(?: file not found|: No such file)")
_OWN_HEADER = r'#[ \t]*include[ \t]*"{}"'
