"""Splits a C++ source into its names and headers, without comments and literals. It does not parse the language.

Spliced lines are joined first, as the language says, and so are names that macros paste together (`roc##blas`). As in
compilers, a lone carriage return also ends a line, and white space may follow the backslash of a splice.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
    """An identifier with its qualification as written, e.g. `std::sort`; `line` counts from 1."""

    text: str
    line: int


@dataclass(frozen=True)
class Header:
    """The file that an #include names, without brackets or quotes."""

    text: str
    line: int


def words(source: str) -> list[Name | Header]:
    """The names and headers of `source`, in order, with the line numbers of the original text.

    A macro may stand for a header too: `#define H <algorithm>`.
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
    """The source with a single newline at the end of every line, as compilers see it."""
    return _LINE_END.sub("\n", source)


def _joined(source: str) -> tuple[str, Sequence[int]]:
    """Returns the source with its spliced lines joined, and the offset in it at which each original line begins."""
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
    """Yields kind, text and offset of each piece. Anything else is `other`, which ends a qualified name."""
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
