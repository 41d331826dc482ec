"""The words of a C++ source, told from its comments and literals: enough to find names, not to understand them.

Spliced lines are joined first, as the language does, and names that macros paste together (`roc##blas`) are joined too.
Compilers end a line at a lone carriage return as well, and splice lines with any white space behind the backslash.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LINE_END = re.compile(r"\r\n?")
_SPLICE = re.compile(r"\\[ \t\v\f]*\n")
_PIECE = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z) )
    | (?P<header> (?:\#|%:)[ \t]*(?:include|include_next|import|define[ \t]+\w+)\b[ \t]*
        (?:<(?P<angle>[^>\n]*)>|"(?P<quote>[^"\n]*)") )
    | (?P<string> (?:u8|[uUL])?"(?:\\.|[^"\\\n])*"? )
    | (?P<number> \.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])* )
    | (?P<character> (?:u8|[uUL])?'(?:\\.|[^'\\\n])*'? )
    | (?P<name> [^\W\d]\w* )
    | (?P<paste> \#\# | %:%: )
    | (?P<scope> :: )
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Name:
    """An identifier with its qualification as written, e.g. `std::sort`; `line` is from 1."""

    text: str
    line: int


@dataclass(frozen=True)
class Header:
    """What an #include names, without the brackets or quotes."""

    text: str
    line: int


def words(source: str) -> list[Name | Header]:
    """The names and headers of `source`, in order; lines are those of the text as it was written.

    What a macro stands for may be a header too: `#define H <algorithm>`.
    """
    text, lines = _joined(with_plain_line_ends(source))
    found: list[Name | Header] = []
    run: list[tuple[str, int]] = []
    for kind, piece, at in _pieces(text):
        if kind in {"name", "paste", "scope"} and _continues(run, kind):
            run.append((piece, at))
            continue
        found += _names(run, lines)
        run = [(piece, at)] if kind == "name" else []
        if kind == "header":
            found.append(Header(piece, _line(lines, at)))
    return [*found, *_names(run, lines)]


def with_plain_line_ends(source: str) -> str:
    """The source with every line ended as compilers see it, by a newline alone."""
    return _LINE_END.sub("\n", source)


def _joined(source: str) -> tuple[str, Sequence[int]]:
    """The source with its spliced lines joined, and where in it each line of the original begins."""
    text, starts, position = "", [0], 0
    for splice in [*_SPLICE.finditer(source), None]:
        piece = source[position : splice.start() if splice else len(source)]
        starts += [len(text) + newline.end() for newline in re.finditer("\n", piece)]
        text += piece
        if splice:
            starts.append(len(text))
            position = splice.end()
    return text, starts


def _pieces(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, text and place of what counts; anything between is `other`, which ends a qualified name."""
    end = 0
    for found in _PIECE.finditer(text):
        if text[end : found.start()].strip():
            yield "other", "", end
        end = found.end()
        if found["comment"] is not None:
            continue
        kind = next(name for name in ("header", "name", "paste", "scope", "") if not name or found[name] is not None)
        path = found["angle"] if found["angle"] is not None else found["quote"]
        yield kind or "other", path if kind == "header" else found[0], found.start()


def _continues(run: Sequence[tuple[str, int]], kind: str) -> bool:
    return bool(run) and (run[-1][0] in {"::", "##", "%:%:"}) == (kind == "name")


def _names(run: Sequence[tuple[str, int]], lines: Sequence[int]) -> list[Name]:
    if not run:
        return []
    text = "".join(piece for piece, _ in run).replace("##", "").replace("%:%:", "").removesuffix("::")
    return [Name(text, _line(lines, run[0][1]))]


def _line(starts: Sequence[int], at: int) -> int:
    return bisect.bisect_right(starts, at)
